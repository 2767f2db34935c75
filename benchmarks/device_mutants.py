"""Device mutants of public test suites: the runs, what readers said of their places, the table of docs/device-mutants.md.

    python benchmarks/device_mutants.py run MIRRORS --work DIR [--python PYTHON] [--seconds N] [--names NAME ...]
    python benchmarks/device_mutants.py sheets --work DIR --out DIR [--names NAME ...]
    python benchmarks/device_mutants.py judge ANSWERS.jsonl [--second]
    python benchmarks/device_mutants.py lint MIRRORS --work DIR [--before CHECKOUT]
    python benchmarks/device_mutants.py page [--check]

`run` takes the suites of device_mutants.json from fetched repositories (clones at MIRRORS/OWNER+NAME/repo), runs each as mutants within a box of CPU time
(device_mutants_timebox.py) and writes counts and places there; a place that was judged keeps its verdict. PYTHON is an interpreter with torch and what the
libraries need. `sheets` writes what a reader needs to judge each place of a run: the library's code, the test, the message;
`judge` takes the answers, with --second those of another reader, who has not seen the first ones. `lint` asks the linter at the
places judged real and on the lines that ran with GPU operands, and writes results/mutants.now.json and, with another checkout,
results/mutants.before.json. `page` renders the table from the data file.

`environment` of a suite is set for its runs: an empty TIMEBOX_ORDER keeps its tests in their order, where one changes the device of those after it.
`seen` of a suite says why its places are no result: whoever worked on the analysis had read the library's code or its roots. Where it is empty nobody had.

A place's verdict is a reader's: "real" (a user who puts model and inputs on a GPU meets it), "told" (gone when the library is told its device, by a parameter or
as the default device), "unusual" (only the test uses the library so) or "artefact" (of the machine or of the rewriting). No line of fetched code is kept.
"""

from __future__ import annotations

import argparse
import ast
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DATA = HERE / "device_mutants.json"
FAULTS = HERE / "device_mutants_faults"
PAGE = ROOT / "docs" / "device-mutants.md"
VERDICTS = ("real", "told", "unusual", "artefact")
_TEXTS = (".py", ".toml", ".cfg", ".ini", ".txt", ".md", ".json", ".yaml", ".yml", ".csv", ".typed")
_BIGGEST = 1_000_000
_HEAD = (
    "| library | tests run | pass as mutants | fail otherwise | roots | real | told | unusual | artefact "
    "| real, told by the linter | repairs confirmed, of tried | CPU results | cost |"
)
_NEAR = 3
_WALL = 1800
"""Seconds of the clock that one run of a suite may take, whatever its box of CPU time says."""


def load() -> dict[str, Any]:
    """The data file."""
    data: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
    return data


def save(data: dict[str, Any]) -> None:
    """Write the data file."""
    DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


# ---------------------------------------------------------------------------------------------------- runs


def extract(mirror: Path, folder: Path) -> str:
    """The text files of a bare clone's HEAD; the commit. Objects that the clone lacks are left out."""
    git = ["git", "--git-dir", str(mirror)]
    environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1"}
    listed = subprocess.run(
        [*git, "ls-tree", "-r", "-l", "-z", "HEAD"], capture_output=True, check=True, env=environment
    ).stdout
    wanted = []
    for entry in filter(None, listed.split(b"\0")):
        meta, _, name = entry.partition(b"\t")
        mode, kind, digest, size = meta.split()
        path = name.decode("utf-8", "replace")
        if kind == b"blob" and mode != b"120000" and path.endswith(_TEXTS) and size.isdigit() and int(size) < _BIGGEST:
            wanted.append((digest, path))
    with tempfile.TemporaryFile() as names:
        names.write(b"".join(digest + b"\n" for digest, _ in wanted))
        names.seek(0)
        with subprocess.Popen(
            [*git, "cat-file", "--batch"], stdin=names, stdout=subprocess.PIPE, env=environment
        ) as batch:
            assert batch.stdout is not None
            for _, path in wanted:
                head = batch.stdout.readline().split()
                if not head or head[-1] == b"missing":
                    continue
                content = batch.stdout.read(int(head[2]))
                batch.stdout.read(1)
                target = (folder / path).resolve()
                if target.is_relative_to(folder.resolve()):
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(content)
    return subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()


def _mirror(mirrors: Path, suite: dict[str, Any]) -> Path | None:
    """The git folder of a suite's repository: a bare clone or one with a work tree. None where it is not fetched, with a sentence."""
    clone = mirrors / suite["repo"].replace("/", "+") / "repo"
    if clone.is_dir():
        return clone / ".git" if (clone / ".git").is_dir() else clone
    print(f"{suite['repo']}: not fetched to {clone}, skipped")
    return None


def run_suite(suite: dict[str, Any], mirrors: Path, work: Path, python: str, seconds: int) -> bool:
    """Run one suite as mutants, and put what it showed into its entry; False where its library is not fetched."""
    folder = work / suite["name"]
    if not folder.is_dir():
        mirror = _mirror(mirrors, suite)
        if mirror is None:
            return False
        suite["commit"] = extract(mirror, folder)
    report, cpu = work / f"{suite['name']}.json", [work / f"{suite['name']}.cpu{n}" for n in (0, 1)]
    for path in (report, *cpu):
        path.unlink(missing_ok=True)
    command = [
        python,
        "-m",
        "pytest",
        "-q",
        "-p",
        "device_mutants_timebox",
        "-p",
        "no:cacheprovider",
        "--continue-on-collection-errors",
        "-o",
        "addopts=",
    ]
    mutants = ["--virtual-gpus", "1", "--device-mutants", "--device-mutants-report", str(report)]
    mutants += ["--device-mutants-fix", "--device-mutants-lib", suite["library"]]
    for number, extra in enumerate(([], mutants)):
        variables = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(folder), str(folder / "src"), str(HERE), str(ROOT)]),
            "OMP_NUM_THREADS": "1",
            "TIMEBOX_ORDER": str(cpu[0]),
            **suite.get("environment", {}),
            "TIMEBOX_SECONDS": str(seconds),
            "TIMEBOX_TEST": str((6, 30)[number]),  # as mutants a test may take five times as long
            "TIMEBOX_CPU": str(cpu[number]),
        }
        with (work / f"{suite['name']}.log{number}").open("wb") as log:
            child = subprocess.Popen(
                [*command, *extra, *suite["tests"]], cwd=folder, env=variables, stdout=log, stderr=log
            )
            try:
                child.wait(_WALL)
            except subprocess.TimeoutExpired:
                child.terminate()  # what was seen so far is reported
                child.wait()
    take(suite, report, folder, cpu)
    return True


def take(suite: dict[str, Any], report: Path, folder: Path, cpu: Sequence[Path]) -> None:
    """Put the report of a run into a suite's entry; verdicts stay where the place is the same."""
    if not report.exists():
        print(f"{suite['name']}: no report")
        return
    found = json.loads(report.read_text(encoding="utf-8"))
    judged = {_key(place): place for place in suite.get("places", ())}
    counts = {outcome: number for outcome, number in found["tests"].items() if outcome != "skipped"}
    otherwise = [failure["error"] for failure in found["failed_otherwise"].values()]
    late = sum(error.startswith("TooLong") for error in otherwise)  # ended by the time box: they say nothing
    suite["ran"], suite["passed"] = sum(counts.values()) - late, counts.get("passed", 0)
    suite["otherwise"] = len(otherwise) - late
    suite["cost"] = _cost(cpu)
    suite["places"] = []
    for place in found["places"]:
        mine = _place(place, folder)
        known = judged.get(_key(mine), {})
        suite["places"].append({**mine, **{name: known.get(name, "") for name in ("verdict", "why", "second")}})
    suite["returns"] = len(found["returns"])
    suite["lines"] = {_relative(file, folder): lines for file, lines in found["lines_with_gpu_operands"].items()}


def _place(place: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A place of a report, its files relative to the checkout."""
    mine = {name: _line(place[name], folder) for name in ("created", "moved", "met")}
    mine |= {"operator": place["operator"], "tests": len(place["tests"]), "repair": place["repair"]}
    return {**mine, "only_untold": place["only_untold"], "only_without_default": place["only_without_default"]}


def _cost(cpu: Sequence[Path]) -> float | None:
    """The CPU time of mutants over that of the plain run, on the tests that both ran."""
    if not all(path.exists() for path in cpu):
        return None
    plain, mutants = (json.loads(path.read_text(encoding="utf-8")) for path in cpu)
    both = plain.keys() & mutants.keys()
    base = sum(plain[test] for test in both)
    return round(sum(mutants[test] for test in both) / base, 1) if base > 0.3 else None


def _relative(file: str, folder: Path) -> str:
    return str(Path(file).relative_to(folder)) if Path(file).is_relative_to(folder) else file


def _line(line: Any, folder: Path) -> list[Any] | None:
    return None if line is None else [_relative(line[0], folder), line[1]]


def _key(place: dict[str, Any]) -> str:
    return json.dumps([place["created"], place["moved"], place["met"]])


# ---------------------------------------------------------------------------------------------------- sheets


def sheets(suite: dict[str, Any], work: Path, out: Path) -> int | None:
    """Write what a reader needs to judge each place of a suite, one place a line; how many, None without a run of it."""
    report, folder = work / f"{suite['name']}.json", work / suite["name"]
    if not report.exists():
        return None
    found = json.loads(report.read_text(encoding="utf-8"))
    lines = []
    for place in found["places"]:
        mine = _place(place, folder)
        at = [mine[name] for name in ("created", "moved", "met") if mine[name]]
        sheet = {
            "id": _name(suite, mine),
            "library": suite["repo"],
            **mine,
            "message": place["message"],
            "count": place["count"],
            "linter": place["linter"],
            "code": {f"{file}:{line}": _around(folder / file, line) for file, line in at},
            "test ids": [test for test in place["tests"][:3] if test],
            "test": next((text for test in place["tests"] if (text := _text_of(folder, test))), ""),
        }
        lines.append(json.dumps(sheet) + "\n")
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{suite['name']}.jsonl").write_text("".join(lines), encoding="utf-8")
    return len(lines)


def _name(suite: dict[str, Any], place: dict[str, Any]) -> str:
    """What names a place on a sheet and in a reader's answers."""
    lines = (place[name] for name in ("created", "moved", "met"))
    return " ".join([suite["name"], *(f"{line[0]}:{line[1]}" if line else "-" for line in lines)])


def judge(data: dict[str, Any], answers: Iterable[str], second: bool) -> int:
    """Take a reader's answers, one JSON object a line: the id of a sheet, a verdict and why. How many fit a place; ValueError for an unknown verdict."""
    places = {_name(suite, place): place for suite in data["suites"] for place in suite["places"]}
    taken = 0
    for line in filter(str.strip, answers):
        answer = json.loads(line)
        if answer["verdict"] not in VERDICTS:
            raise ValueError(f"{answer['id']}: no such verdict: {answer['verdict']}")
        place = places.get(answer["id"])
        if place is None:
            print(f"no such place: {answer['id']}")
            continue
        place |= {"second": answer["verdict"]} if second else {"verdict": answer["verdict"], "why": answer["why"]}
        taken += 1
    return taken


def _around(path: Path, line: int, reach: int = 25) -> str:
    """The lines round a line, numbered, that line marked."""
    if not path.is_file():
        return ""
    text = path.read_text(encoding="utf-8", errors="replace").splitlines()
    numbered = enumerate(text[max(line - 1 - reach, 0) : line + reach], max(line - reach, 1))
    return "\n".join(f"{'>' if number == line else ' '}{number:5} {content}" for number, content in numbered)


def _text_of(folder: Path, test: str) -> str:
    """The source of a test, by its id: the function, and its class up to the first test."""
    file, *names = test.split("[")[0].split("::")
    path = folder / file
    if not names or not path.is_file():
        return ""
    source = path.read_text(encoding="utf-8", errors="replace")
    nodes: list[Any] = ast.parse(source).body
    for name in names:
        found = next((n for n in nodes if getattr(n, "name", None) == name), None)
        if found is None:
            return ""
        nodes = found.body
    return ast.get_source_segment(source, found) or ""


# ---------------------------------------------------------------------------------------------------- the linter


def lint(data: dict[str, Any], mirrors: Path, work: Path, when: str, checkout: Path) -> bool:
    """What a checkout's linter says at the real places and on lines that ran. False, and nothing is stored, where a library is not at hand."""
    from oracles import Result, Row, write
    from page import today

    suites = [suite for suite in data["suites"] if suite.get("lines")]
    absent = [suite for suite in suites if not (work / suite["name"]).is_dir()]
    mirrored = [(suite, _mirror(mirrors, suite)) for suite in absent]
    for suite, mirror in mirrored:
        if mirror is not None:
            extract(mirror, work / suite["name"])
    if any(mirror is None for _, mirror in mirrored):
        print("not every library is at hand: the stored figures stay as they are")
        return False
    totals: dict[str, collections.Counter[str]] = {side: collections.Counter() for side in ("seen", "unseen")}
    for suite in suites:
        folder = work / suite["name"]
        totals[side_of(suite)].update(_score(suite, folder, _findings(suite, folder, checkout)))
    rows = []
    for sample, kind in (("real places", "real"), ("places that must be told", "told")):
        for side, its in totals.items():
            if not its[kind]:
                continue
            found = (its[kind], its[f"{kind} found"], its[f"{kind} with notes"])
            repairs = (its[f"{kind} tried"], its[f"{kind} tried"] - its[f"{kind} confirmed"]) if when == "now" else ()
            rows.append(Row(sample, side, "lines", *found, None, None, None, None, *repairs))
    for side, its in totals.items():
        clean: dict[str, Any] = {"clean": its["lines"], "false": its["false"]}
        clean |= {"false_errors": its["errors"], "false_notes": its["notes"]}
        names = ", ".join(sorted(suite["repo"] for suite in suites if side_of(suite) == side))
        note = f"{side}: {names}" if side == "unseen" else ""
        rows.append(Row("lines that ran with GPU operands", side, "lines", **clean, note=note))
    revision = subprocess.run(
        ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    about = "Faults that device mutants of public test suites showed, read; errors and warnings on lines without a fault that ran with a GPU operand"
    command = "python benchmarks/device_mutants.py lint MIRRORS --work DIR"
    write(Result("mutants", when, revision, today(), command, about, tuple(rows)))
    return True


def _findings(suite: dict[str, Any], folder: Path, checkout: Path) -> list[dict[str, Any]]:
    """What the checkout's linter says in the files that ran, notes included."""
    met = {place[name][0] for place in suite["places"] for name in ("created", "moved", "met") if place[name]}
    files = [str(folder / file) for file in sorted({*suite["lines"], *met}) if (folder / file).is_file()]
    command = [
        sys.executable,
        "-m",
        "torchdevlint",
        "check",
        "--isolated",
        "--no-cache",
        "--level",
        "info",
        "--output-format",
        "json",
        "--exit-zero",
        *files,
    ]
    known = subprocess.run(
        [sys.executable, "-m", "torchdevlint", "check", "--help"],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    command = [word for word in command if not word.startswith("--") or word in known]
    done = subprocess.run(
        command,
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(checkout)},
    )
    found = json.loads(done.stdout or "[]")
    return [item for item in found if isinstance(item, dict)]


def side_of(suite: dict[str, Any]) -> str:
    """Whether whoever worked on the analysis had read the library or its roots."""
    return "seen" if suite.get("seen") else "unseen"


def roots(suite: dict[str, Any]) -> list[dict[str, Any]]:
    """One place for each guilty line (that which put the tensor on the CPU, else where it was met): the first of the gravest verdict."""
    rank = {verdict: number for number, verdict in enumerate((*VERDICTS, ""))}
    found: dict[str, dict[str, Any]] = {}
    for place in sorted(suite["places"], key=lambda place: rank[place["verdict"]]):
        found.setdefault(json.dumps(place["moved"] or place["created"] or place["met"]), place)
    return list(found.values())


def _score(suite: dict[str, Any], folder: Path, found: Iterable[dict[str, Any]]) -> collections.Counter[str]:
    """Counts of a suite; each place learns how severe the linter's finding there is (None: no finding)."""
    counts: collections.Counter[str] = collections.Counter()
    found = list(found)
    spans = [
        (
            item,
            [
                (_relative(p["filename"], folder), p["location"]["row"], p.get("end_location", p["location"])["row"])
                for p in (item, *item["related"])
            ],
        )
        for item in found
    ]
    faulty: set[tuple[str, int]] = set()
    for place in suite["places"]:
        lines = [tuple(place[name]) for name in ("created", "moved", "met") if place[name]]
        faulty |= {(file, line + offset) for file, line in lines for offset in range(-_NEAR, _NEAR + 1)}
        severities = {
            item["severity"]
            for item, its in spans
            if any(f == file and a - _NEAR <= line <= b + _NEAR for file, line in lines for f, a, b in its)
        }
        place["linter"] = next((name for name in ("error", "warning", "info") if name in severities), None)
    for place in roots(suite):
        if place["verdict"] in ("real", "told"):
            counts[place["verdict"]] += 1
            counts[f"{place['verdict']} with notes"] += place["linter"] is not None
            counts[f"{place['verdict']} found"] += place["linter"] in ("error", "warning")
            counts[f"{place['verdict']} tried"] += bool(place["repair"])
            counts[f"{place['verdict']} confirmed"] += place["repair"] == "confirmed"
    for item, its in spans:
        file, row, _ = its[0]
        if row in suite["lines"].get(file, ()) and (file, row) not in faulty:
            counts["notes" if item["severity"] == "info" else "false"] += 1
            counts["errors"] += item["severity"] == "error"
    counts["lines"] = sum(1 for file, lines in suite["lines"].items() for line in lines if (file, line) not in faulty)
    return counts


# ---------------------------------------------------------------------------------------------------- the page


def table(data: dict[str, Any]) -> list[str]:
    """The table of suites."""
    lines = [_HEAD, "|---" + "|--:" * (_HEAD.count("|") - 2) + "|"]
    total: collections.Counter[str] = collections.Counter()
    for suite in sorted((s for s in data["suites"] if s.get("ran")), key=lambda s: s["repo"].lower()):
        row = counts_of(suite)
        total += row
        cost = f"{suite['cost']}" if suite.get("cost") else "-"
        lines.append(f"| {suite['repo']} | {_cells(row)} | {cost} |")
    lines.append(f"| **{len(lines) - 2} libraries** | {_cells(total)} | |")
    return [*lines, "", _summary(data, total)]


def _summary(data: dict[str, Any], total: collections.Counter[str]) -> str:
    """The shares of the table in words, and how far its readers agree."""
    judged = sum(total[verdict] for verdict in VERDICTS)
    text = f"{total['real'] + total['told']} of {judged} judged roots are real or told ({(total['real'] + total['told']) / max(judged, 1):.0%}). "
    text += f"At its default level the linter finds {total['found']} of the {total['real']} real ones. "
    text += f"A repair of it was tried at {total['tried']} roots, and with {total['confirmed']} of them the fault is gone and no test fails that passed before."
    twice = [place for suite in data["suites"] for place in roots(suite) if place.get("second")]
    if not twice:
        return text + " The verdicts are those of one strict reader, who had run the suites."
    same = sum(place["second"] == place["verdict"] for place in twice)
    return text + f" A second reader, who had not seen the verdicts, read {len(twice)} roots and agrees on {same}."


def counts_of(suite: dict[str, Any]) -> collections.Counter[str]:
    """The counts of one suite; places with one guilty line are one root."""
    its = roots(suite)
    counts: collections.Counter[str] = collections.Counter(
        ran=suite["ran"], passed=suite["passed"], otherwise=suite["otherwise"], roots=len(its), returns=suite["returns"]
    )
    counts.update(place["verdict"] for place in its if place["verdict"])
    counts["confirmed"] = sum(place["repair"] == "confirmed" for place in its)
    counts["tried"] = sum(bool(place["repair"]) for place in its)
    counts["found"] = sum(place["verdict"] == "real" and place.get("linter") in ("error", "warning") for place in its)
    return counts


def _cells(counts: collections.Counter[str]) -> str:
    names = ("ran", "passed", "otherwise", "roots", *VERDICTS, "found")
    repairs = f"{counts['confirmed']} of {counts['tried']}" if counts["tried"] else "-"
    return " | ".join([*(f"{counts[name]:,}" for name in names), repairs, f"{counts['returns']:,}"])


def rendered(page: str, data: dict[str, Any]) -> str:
    """The page with its table and its scripts renewed."""
    for name, lines in (("suites", table(data)), ("faults", faults())):
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        before, _, rest = page.partition(begin)
        _, _, after = rest.partition(end)
        page = "\n".join([before + begin, *lines, end]) + after
    return page


def faults() -> list[str]:
    """The scripts of device_mutants_faults, each a fault of a library."""
    lines = []
    for path in sorted(FAULTS.glob("*.py")):
        lines += ["", f"`{path.name}`", "", "```python", path.read_text(encoding="utf-8").rstrip(), "```"]
    return [*lines, ""]


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("run", "lint"):
        command = commands.add_parser(name)
        command.add_argument("mirrors", type=Path)
        command.add_argument("--work", type=Path, required=True)
    commands.choices["run"].add_argument("--python", default=sys.executable)
    commands.choices["run"].add_argument("--seconds", type=int, default=60)
    reading = commands.add_parser("sheets")
    reading.add_argument("--work", type=Path, required=True)
    reading.add_argument("--out", type=Path, required=True)
    judging = commands.add_parser("judge")
    judging.add_argument("answers", type=Path)
    judging.add_argument("--second", action="store_true", help="a second reader's")
    for command in (commands.choices["run"], reading):
        command.add_argument("--names", nargs="+", default=(), metavar="NAME", help="these suites (default: all)")
    commands.choices["lint"].add_argument("--before", type=Path)
    commands.add_parser("page").add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    data = load()
    if arguments.command == "judge":
        count = judge(data, arguments.answers.read_text(encoding="utf-8").splitlines(), arguments.second)
        print(f"{count} places")
        save(data)
        return 0
    if arguments.command == "sheets":
        for suite in data["suites"]:
            if not arguments.names or suite["name"] in arguments.names:
                count = sheets(suite, arguments.work.resolve(), arguments.out)
                print(
                    f"{suite['name']}: " + (f"no run of it in {arguments.work}" if count is None else f"{count} places")
                )
        return 0
    if arguments.command == "run":
        if shutil.which("git") is None:
            parser.error("git is needed to read fetched repositories")
        arguments.work.mkdir(parents=True, exist_ok=True)
        for suite in data["suites"]:
            chosen = not arguments.names or suite["name"] in arguments.names
            if chosen and run_suite(
                suite, arguments.mirrors, arguments.work.resolve(), arguments.python, arguments.seconds
            ):
                save(data)
        return 0
    if arguments.command == "lint":
        if not lint(data, arguments.mirrors, arguments.work.resolve(), "now", ROOT):
            return 0
        save(data)
        if arguments.before:
            lint(data, arguments.mirrors, arguments.work.resolve(), "before", arguments.before.resolve())
        return 0
    text = PAGE.read_text(encoding="utf-8")
    new = rendered(text, data)
    if arguments.check:
        return int(new != text)
    PAGE.write_text(new, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
