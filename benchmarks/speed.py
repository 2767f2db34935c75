"""CPU seconds of whole processes, beside a bare LibCST parse and beside peers, in one alternating run.

usage: python benchmarks/speed.py FOLDER... [--torchfix PYTHON] [--runs N] [--write]

The peers run over the first folder (they take minutes on a large one), the bare parse over all of them.
PYTHON is the interpreter of an environment with `pip install torchfix==0.7.0`; ruff, pyflakes and flake8 are measured where this
interpreter's environment has them. Exit code 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import page

from torchdevlint.source.sieve import may_have_findings

_LIBRARIES = ("libcst", "ruff", "pyflakes", "flake8")

# What a file costs that nothing is said of: the parse alone. The paths come in a file, one a line.
_BARE_PARSE = """\
import sys
import libcst
for line in open(sys.argv[1], encoding="utf-8"):
    with open(line.rstrip("\\n"), "rb") as file:
        raw = file.read()
    try:
        libcst.parse_module(raw)
    except (libcst.ParserSyntaxError, UnicodeDecodeError):
        pass
"""
_PLAIN_FILE = '''\
"""A module of an ordinary program."""

import os


class Account:
    """Money of one person."""

    def __init__(self, name, balance=0):
        self.name = name
        self.balance = balance

    def pay(self, amount):
        if amount > self.balance:
            raise ValueError("not enough money")
        self.balance -= amount
        return self.balance


def total(accounts):
    return sum(account.balance for account in accounts if os.path.exists(account.name))
'''
_PLAIN_FILES = 5000
# Cold, of a bare parse: where little is said of many large files the sieve spares more.
_MOST_OF_A_PARSE = {"huggingface/pytorch-image-models": 0.75}
_MOST_OF_ANY_PARSE = 1.4


@dataclass(frozen=True, slots=True)
class Target:
    """What must hold: the measure is at most `most`."""

    what: str
    measured: float
    most: float

    @property
    def is_met(self) -> bool:
        return self.measured <= self.most


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--torchfix", help="interpreter of an environment that has TorchFix")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write the tables into docs/benchmarks.md")
    options = parser.parse_args()
    lines = [
        f"Last run: {page.today()}, {versions(options.torchfix)}; medians of {options.runs} run{'s'[: options.runs != 1]}.",
        "",
    ]
    targets: list[Target] = []
    with tempfile.TemporaryDirectory() as temporary:
        for number, folder in enumerate(options.folders):
            times = repository(folder, options.torchfix, options.runs, Path(temporary), with_peers=number == 0)
            lines += [*repository_table(folder, times), ""]
            targets += repository_targets(folder, times)
        times = small(Path(temporary), options.runs)
    lines += [*small_table(times), ""]
    targets += small_targets(times)
    lines += page.table(("target", "at most", "measured", ""), map(target_row, targets))
    print(*lines, sep="\n")
    if options.write:
        page.write_section("speed", lines)
    return 0 if all(target.is_met for target in targets) else 1


# ---------------------------------------------------------------------------------------------------- measuring


def cpu_seconds(command: Sequence[str]) -> float:
    """User and system time of one process and its children; raises when it could not do its work."""
    environment = {**os.environ, "RAYON_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    environment.pop(
        "PYTHONDONTWRITEBYTECODE", None
    )  # else each run compiles our modules anew, which no installed package does
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1) or b"Traceback (most recent call last)" in done.stderr:
        raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr.decode()[-500:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def medians(commands: dict[str, Sequence[str]], runs: int) -> dict[str, float]:
    """CPU seconds of each command: the median over runs that take turns, after one run to warm the disk and the bytecode."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(runs + 1):
        for name, command in commands.items():
            spent = cpu_seconds(command)
            if turn:
                times[name].append(spent)
    return {name: statistics.median(spent) for name, spent in times.items()}


def repository(folder: Path, torchfix: str | None, runs: int, temporary: Path, *, with_peers: bool) -> dict[str, float]:
    """The tools over one folder."""
    listed = temporary / "files.txt"
    listed.write_text("\n".join(torch_files(folder)), encoding="utf-8")
    commands: dict[str, Sequence[str]] = {
        "torchdevlint check": [
            sys.executable,
            "-m",
            "torchdevlint",
            "check",
            "--isolated",
            "--no-cache",
            "-j",
            "1",
            str(folder),
        ],
        "bare libcst.parse_module": [sys.executable, "-c", _BARE_PARSE, str(listed)],
    }
    if with_peers:
        commands |= peers(folder)
    times = medians(commands, runs)
    if with_peers and torchfix:  # far slower than the others: twice, after one small run to write its bytecode
        cpu_seconds([torchfix, "-m", "torchfix", str(temporary)])
        slow = {
            "TorchFix": [torchfix, "-m", "torchfix", str(folder)],
            "flake8 with TorchFix's plugin": [torchfix, "-m", "flake8", "--isolated", "-j", "1", str(folder)],
        }
        times |= {name: statistics.median(cpu_seconds(command) for _ in range(2)) for name, command in slow.items()}
    return times


def peers(folder: Path) -> dict[str, Sequence[str]]:
    """Commands for the peers that this interpreter's environment has."""
    here = [sys.executable, "-m"]
    found: dict[str, Sequence[str]] = {}
    ruff = shutil.which("ruff", path=str(Path(sys.executable).parent)) or shutil.which("ruff")
    if ruff:
        found["ruff check"] = [ruff, "check", "--isolated", "--no-cache", "--quiet", str(folder)]
    for peer, arguments in (("pyflakes", []), ("flake8", ["--isolated", "-j", "1"])):
        if subprocess.run([*here, peer, "--version"], capture_output=True, check=False).returncode == 0:
            name = "flake8 with torchdevlint's plugin" if peer == "flake8" else peer
            found[name] = [*here, peer, *arguments, str(folder)]
    return found


def torch_files(folder: Path) -> list[str]:
    """The files that the byte test lets through: those that must be parsed."""
    return [str(path) for path in sorted(folder.rglob("*.py")) if may_have_findings(path.read_bytes())]


def small(temporary: Path, runs: int) -> dict[str, float]:
    """Start-up, one file without torch, and thousands of them."""
    one = temporary / "one.py"
    one.write_text(_PLAIN_FILE, encoding="utf-8")
    many = temporary / "many"
    for number in range(_PLAIN_FILES):
        path = many / f"package{number % 100}" / f"module{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{_PLAIN_FILE}\n\nNUMBER = {number}\n", encoding="utf-8")
    tool = [sys.executable, "-m", "torchdevlint"]
    check = [*tool, "check", "--isolated", "-j", "1"]
    cache = temporary / "cache"
    times = medians(
        {
            "many": [*check, "--no-cache", str(many)],
            "many again": [*check, "--cache-dir", str(cache), str(many)],
        },
        runs,
    )
    start = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "torchdevlint --version": [*tool, "--version"],
        "torchdevlint check one_file_without_torch.py": [*tool, "check", "--isolated", "--no-cache", str(one)],
    }
    return times | medians(start, max(15, runs))


# ---------------------------------------------------------------------------------------------------- telling


def versions(torchfix: str | None) -> str:
    """What was measured, with versions."""
    from importlib.metadata import PackageNotFoundError, version

    told = [f"Python {platform.python_version()}"]
    for name in _LIBRARIES:
        try:
            told.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    if torchfix:
        done = subprocess.run([torchfix, "-m", "torchfix", "--version"], capture_output=True, text=True, check=True)
        told.append(f"TorchFix {done.stdout.strip()}")
    return ", ".join(told)


def repository_table(folder: Path, times: dict[str, float]) -> list[str]:
    files = torch_files(folder)
    size = sum(Path(path).stat().st_size for path in files) / 1e6
    title = f"{folder.name.replace('+', '/', 1)} ({len(files)} files that name torch, {size:.2f} MB)"
    ours = times["torchdevlint check"]
    rows = [
        (name, f"{spent:.2f}", f"{spent / ours:.2f}") for name, spent in sorted(times.items(), key=lambda item: item[1])
    ]
    return page.table((title, "CPU seconds", "of ours"), rows)


def small_table(times: dict[str, float]) -> list[str]:
    bare = times["python -c pass"]
    rows = [
        (name, f"{spent * 1000:.0f}", f"{spent / bare:.1f}")
        for name, spent in times.items()
        if name.startswith(("python", "torchdevlint"))
    ]
    return page.table(("start-up", "CPU milliseconds", "of bare Python"), rows)


def repository_targets(folder: Path, times: dict[str, float]) -> Iterable[Target]:
    name, ours = folder.name.replace("+", "/", 1), times["torchdevlint check"]
    most = _MOST_OF_A_PARSE.get(name, _MOST_OF_ANY_PARSE)
    yield Target(f"check / bare parse, {name}", ours / times["bare libcst.parse_module"], most)
    if "TorchFix" in times:
        yield Target(f"check / TorchFix, {name}", ours / times["TorchFix"], 1 / 15)


def small_targets(times: dict[str, float]) -> Iterable[Target]:
    bare = times["python -c pass"]
    yield Target(f"{_PLAIN_FILES:,} files without torch, CPU seconds", times["many"], 1.0)
    yield Target(f"{_PLAIN_FILES:,} files again, from the cache, CPU seconds", times["many again"], 0.3)
    yield Target("--version / bare Python", times["torchdevlint --version"] / bare, 3.0)
    yield Target(
        "one file without torch / bare Python", times["torchdevlint check one_file_without_torch.py"] / bare, 3.0
    )


def target_row(target: Target) -> tuple[str, str, str, str]:
    return target.what, f"{target.most:.3g}", f"{target.measured:.3g}", "met" if target.is_met else "MISSED"


if __name__ == "__main__":
    sys.exit(main())
