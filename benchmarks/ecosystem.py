"""What a change of torchdevlint does to its findings on repositories of others: `python benchmarks/ecosystem.py BASE HEAD FOLDER`.

usage: python benchmarks/ecosystem.py BASE HEAD FOLDER [--select CODES] [--level LEVEL] [--most N] [--jobs N]

BASE and HEAD are commits of this repository, or `.` for the work tree. FOLDER holds fetched repositories: folders with files, or git directories without a
work tree, at any depth (`owner+name/...`); a git directory's HEAD is laid out in a temporary folder. Nothing of them is run or imported.

Findings are the same where repository, file, code and the text of the line are: a moved line is no change. Printed as Markdown: counts by
code, then what is new, gone and told otherwise. Exit code 0, also where FOLDER holds no repository, which is said; 2 where a commit or a run fails.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
WORK_TREE = "."
_DEPTH = 4  # folders below FOLDER in which a repository may begin


class Failed(Exception):
    """A sentence for the user."""


class Repository(NamedTuple):
    """A repository and where its files are, or its git directory."""

    name: str
    path: Path
    is_bare: bool


class Found(NamedTuple):
    """What a finding is known by."""

    file: str
    code: str
    line: str


class Told(NamedTuple):
    """How a finding is told."""

    severity: str
    message: str
    row: int


Findings = dict[Found, list[Told]]


# ---------------------------------------------------------------------------------------------------- repositories


def repositories(folder: Path, depth: int = _DEPTH) -> Iterator[Repository]:
    """Those below a folder, sorted; a folder that holds Python files but no git directory is one as well."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_symlink() or not path.is_dir():
            continue
        if (path / "HEAD").is_file() and (path / "objects").is_dir():
            yield Repository(_name(path), path, is_bare=True)
        elif (path / ".git").exists() or any(path.glob("*.py")) or depth == 1:
            yield Repository(path.name, path, is_bare=False)
        else:
            below = list(repositories(path, depth - 1))
            yield from (item._replace(name=f"{path.name}/{item.name}") if not item.is_bare else item for item in below)


def _name(path: Path) -> str:
    """The name of a git directory: that of the nearest folder that is no mere `git` or a number."""
    for folder in (path, *path.parents):
        name = folder.name.removesuffix(".git")
        if name and "+" in name:
            return name.replace("+", "/", 1)
    return path.name.removesuffix(".git")


def laid_out(git_directory: Path, commit: str, target: Path) -> None:
    """The files of a commit below a folder; raises `Failed`."""
    done = subprocess.run(["git", "--git-dir", git_directory, "archive", commit], capture_output=True)
    if done.returncode != 0:
        raise Failed(f"{git_directory}: {done.stderr.decode(errors='replace').strip()}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        for member in archive:  # plain files alone: a link could lead out
            parts = Path(member.name).parts
            if member.isfile() and not member.name.startswith("/") and ".." not in parts:
                path = target.joinpath(*parts)
                path.parent.mkdir(parents=True, exist_ok=True)
                content = archive.extractfile(member)
                path.write_bytes(content.read() if content is not None else b"")


# ---------------------------------------------------------------------------------------------------- findings


def program(commit: str, stack: ExitStack) -> Path:
    """The folder with torchdevlint as it was at a commit."""
    if commit == WORK_TREE:
        return ROOT
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    git = subprocess.run(["git", "rev-parse", "--absolute-git-dir"], cwd=ROOT, capture_output=True, text=True)
    if git.returncode != 0:
        raise Failed(f"{ROOT}: {git.stderr.strip()}")
    laid_out(Path(git.stdout.strip()), commit, folder)
    return folder


def findings(folder: Path, source: Path, options: Sequence[str]) -> tuple[Findings, list[str]]:
    """What torchdevlint of a folder says of the files below `source`, and its problems."""
    command = [sys.executable, "-m", "torchdevlint", "check", "--isolated", "--no-cache", "--exit-zero", *options]
    done = subprocess.run(
        [*command, "--output-format", "json", "--", "."],
        cwd=source,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
    )
    try:
        items = json.loads(done.stdout)
    except ValueError:
        raise Failed(f"torchdevlint of {folder} failed on {source}: {done.stderr.strip()[-500:]}") from None
    texts: dict[str, list[str]] = {}
    found: defaultdict[Found, list[Told]] = defaultdict(list)
    for item in items:
        name, row = item["filename"], item["location"]["row"]
        if name not in texts:
            texts[name] = Path(name).read_text(encoding="utf-8", errors="replace").split("\n")
        lines = texts[name]
        line = "" if item["cell"] is not None or row > len(lines) else " ".join(lines[row - 1].split())
        key = Found(os.path.relpath(name, os.path.realpath(source)), item["code"], line)
        found[key].append(Told(item["severity"], item["message"], row))
    return dict(found), done.stderr.splitlines()


# ---------------------------------------------------------------------------------------------------- the difference


class Difference(NamedTuple):
    """What changed in one repository."""

    new: list[tuple[Found, Told]]
    gone: list[tuple[Found, Told]]
    otherwise: list[tuple[Found, Told, Told]]


def difference(before: Findings, after: Findings) -> Difference:
    """Of equal findings as many stay as there are on both sides."""
    result = Difference([], [], [])
    for key in sorted({*before, *after}):
        old, new = before.get(key, []), after.get(key, [])
        both = min(len(old), len(new))
        result.gone.extend((key, told) for told in old[both:])
        result.new.extend((key, told) for told in new[both:])
        for was, now in zip(old, new, strict=False):
            if (was.severity, was.message) != (now.severity, now.message):
                result.otherwise.append((key, was, now))
    return result


def report(
    results: Iterable[tuple[str, Difference]], counts: tuple[Counter[str], Counter[str]], most: int
) -> Iterator[str]:
    """Markdown: counts by code, then up to `most` examples of each kind and code."""
    results = list(results)
    changed = [(name, found) for name, found in results if any(found)]
    new, gone, otherwise = (sum(len(found[kind]) for _, found in results) for kind in range(3))
    before, after = counts
    totals = f"{len(results)} repositories, {before.total()} findings before, {after.total()} now"
    yield f"{totals}: {new} new, {gone} gone, {otherwise} told otherwise, in {len(changed)} repositories."
    codes = sorted(code for code in {*before, *after} if before[code] != after[code])
    if codes:
        yield "\n| code | before | now |\n|---|---|---|"
        yield from (f"| {code} | {before[code]} | {after[code]} |" for code in codes)
    for title, kind in (("New", 0), ("Gone", 1), ("Told otherwise", 2)):
        shown: Counter[str] = Counter()
        lines = []
        for name, found in changed:
            for key, *told in found[kind]:
                shown[key.code] += 1
                if shown[key.code] <= most:
                    lines.append(
                        f"- {name} {key.file}:{told[-1].row} {key.code} {told[-1].severity}: `{key.line or '(a cell)'}`"
                    )
                    if kind == 2:
                        lines.append(f"  - before: {told[0].severity}: {told[0].message}\n  - now: {told[1].message}")
        if lines:
            yield f"\n## {title}\n"
            yield from lines
            yield from (f"- ... and {n - most} more of {code}" for code, n in sorted(shown.items()) if n > most)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compares and prints; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", metavar="BASE")
    parser.add_argument("head", metavar="HEAD")
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    parser.add_argument("--select", metavar="CODES")
    parser.add_argument("--level", default="warning")
    parser.add_argument("--most", type=int, default=5, help="examples of each code (default: 5)")
    parser.add_argument("--jobs", default="1", help="processes for a repository (default: 1)")
    given = parser.parse_args(arguments)
    found = list(repositories(given.folder))
    if not found:
        print(f"{given.folder}: no repositories here, nothing to compare")
        return 0
    options = ["--level", given.level, "-j", given.jobs, *(["--select", given.select] if given.select else [])]
    results: list[tuple[str, Difference]] = []
    counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    try:
        with ExitStack() as stack:
            programs = [program(commit, stack) for commit in (given.base, given.head)]
            for number, repository in enumerate(found, start=1):
                print(f"{number} of {len(found)}: {repository.name}", file=sys.stderr)
                with tempfile.TemporaryDirectory() as temporary:
                    source = repository.path
                    if repository.is_bare:
                        source = Path(temporary) / "source"
                        source.mkdir()
                        laid_out(repository.path, "HEAD", source)
                    sides = [findings(folder, source, options) for folder in programs]
                for count, (side, problems) in zip(counts, sides, strict=True):
                    count.update({code: 0 for _, code, _ in side})
                    for key, told in side.items():
                        count[key.code] += len(told)
                    for problem in problems:
                        print(f"  {problem}", file=sys.stderr)
                results.append((repository.name, difference(sides[0][0], sides[1][0])))
    except Failed as error:
        print(error, file=sys.stderr)
        return 2
    for line in report(results, counts, given.most):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
