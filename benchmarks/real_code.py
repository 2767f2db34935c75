"""Checks and repairs copies of real repositories, and looks at what was written.

usage: python benchmarks/real_code.py FOLDER... [--jobs N] [--diffs FOLDER] [--named] [--write] [--keep FILE]
       python benchmarks/real_code.py --mirrors FOLDER [--list FILE] ...

A repository is a folder "owner+name", or a line "owner/name commit" of `--list` (default: real_repositories.txt beside this file), whose
git directory lies in `--mirrors` as owner+name, owner+name/repo, owner+name/repo/.git or owner+name.git.

Each is copied, repaired with `--fix`, repaired again, then with the unsafe fixes too where a finding with a fix is left, and again. With `--named`
a second repair is given the files that the first one changed by name, else the whole repository. A repository fails when the linter crashes
or cannot check a file, when Python no longer compiles a file that it compiled before, when a second repair changes anything, when a file
without a finding is touched, or when bytes changed that no repair meant: newlines, encoding. Exit code 1 when any repository fails.
`--keep` appends each result to a file as a line of JSON, and leaves out repositories that it holds already.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tokenize
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from difflib import SequenceMatcher, unified_diff
from pathlib import Path

import page

from torchdevlint.findings import Outcome
from torchdevlint.settings import Resolver
from torchdevlint.workspace import runner

_SUFFIXES = (".py", ".pyi", ".ipynb")
_LIST = Path(__file__).with_name("real_repositories.txt")


@dataclass(frozen=True, slots=True)
class Repository:
    """Where the files of one repository come from: a folder, or a commit of a git directory."""

    name: str
    place: Path
    commit: str = ""

    def copy_to(self, folder: Path) -> None:
        """Writes its files into a new folder."""
        if not self.commit:
            shutil.copytree(self.place, folder, symlinks=True, ignore=shutil.ignore_patterns(".git"))
            (folder / ".git").mkdir(exist_ok=True)
            return
        (folder / ".git").mkdir(parents=True)  # it is a repository: its files are one project
        for path, mode, raw in _blobs(self.place, self.commit):
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if mode == "120000":
                target.symlink_to(os.fsdecode(raw))
            else:
                target.write_bytes(raw)


def _blobs(place: Path, commit: str) -> Iterator[tuple[str, str, bytes]]:
    """The path, mode and bytes of each file of a commit that is stored; a mirror may lack the largest ones."""
    git = ["git", f"--git-dir={place}"]
    listing = subprocess.run([*git, "ls-tree", "-r", "-z", commit], capture_output=True, check=True).stdout
    entries = [entry.split(b"\t", 1) for entry in listing.split(b"\0") if entry]
    asked = b"".join(head.split()[2] + b"\n" for head, _ in entries)
    answer = io.BytesIO(
        subprocess.run([*git, "cat-file", "--batch"], input=asked, capture_output=True, check=True).stdout
    )
    for head, path in entries:
        told = answer.readline().split()
        if told[-1] == b"missing":
            continue
        raw = answer.read(int(told[2]))
        answer.read(1)
        if told[1] == b"blob":
            yield os.fsdecode(path), head.split()[0].decode(), raw


@dataclass(slots=True)
class Result:
    """What one repository gave."""

    name: str
    commit: str = ""
    files: int = 0
    findings: Counter[str] = field(default_factory=Counter)
    """By severity: what a check with safe repairs tells, repaired or not."""
    safe: int = 0
    """Files changed by --fix."""
    unsafe: int = 0
    """Files changed by --unsafe-fixes after that."""
    left: int = 0
    """Findings left at the end."""
    failures: list[str] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--mirrors", type=Path, help="where the git directories of the listed repositories are")
    parser.add_argument("--list", type=Path, default=_LIST, help="the repositories to take from --mirrors")
    parser.add_argument("--jobs", type=int, default=1, help="processes of the linter")
    parser.add_argument("--diffs", type=Path, help="where to leave what each repair changed")
    parser.add_argument("--named", action="store_true", help="repeat with the files that changed, by their names")
    parser.add_argument("--keep", type=Path, help="a file that results are kept in")
    parser.add_argument("--write", action="store_true", help="write the table into docs/benchmarks.md")
    options = parser.parse_args()
    repositories = [Repository(name_of(folder), folder) for folder in options.folders]
    if options.mirrors is not None:
        repositories += listed(options.list, options.mirrors)
    results = kept(options.keep)
    known = {(result.name, result.commit) for result in results}
    for repository in repositories:
        if (repository.name, repository.commit) in known:
            continue
        results.append(examine(repository, options.jobs, options.diffs, options.named))
        print(*told(results[-1]), sep="\n", flush=True)
        if options.keep is not None:
            with options.keep.open("a", encoding="utf-8") as file:
                file.write(json.dumps({part.name: getattr(results[-1], part.name) for part in fields(Result)}) + "\n")
    if options.write:
        page.write_section("real code", section(results))
    return 1 if any(result.failures for result in results) else 0


def name_of(folder: Path) -> str:
    """The name of a repository: "owner/name" of a folder "owner+name"."""
    return folder.name.replace("+", "/", 1)


def listed(path: Path, mirrors: Path) -> list[Repository]:
    """The repositories of a list whose git directories are there; the others are told on stderr."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        name, commit, *_ = line.split()
        stem = mirrors / name.replace("/", "+")
        places = (stem / "repo", stem / "repo" / ".git", stem, stem.with_name(stem.name + ".git"))
        place = next((place for place in places if (place / "HEAD").exists()), None)
        if place is None:
            print(f"{name}: no git directory in {mirrors}", file=sys.stderr)
        else:
            found.append(Repository(name, place, commit))
    return found


def kept(path: Path | None) -> list[Result]:
    """The results of earlier runs."""
    if path is None or not path.exists():
        return []
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [Result(**{**row, "findings": Counter(row["findings"])}) for row in rows]


def told(result: Result) -> list[str]:
    """One line for a repository, and one for each of its failures."""
    head = f"{result.name}: {result.files} files, {dict(result.findings)}, changed {result.safe} + {result.unsafe}, {result.left} left"
    return [head, *(f"  FAILURE {failure}" for failure in result.failures)]


def section(results: Sequence[Result]) -> list[str]:
    """The section of docs/benchmarks.md: the sums, a row for each repository that was repaired, and the names of the others."""
    results = sorted(results, key=lambda result: result.name.lower())
    shown = [result for result in results if result.safe or result.unsafe or result.failures]
    silent = [result.name for result in results if result not in shown]
    files, fixed = sum(result.files for result in results), sum(result.safe + result.unsafe for result in results)
    failures = sum(len(result.failures) for result in results)
    rows = [
        (
            f"{result.name} {result.commit[:9]}".rstrip(),
            result.files,
            result.findings["error"],
            result.findings["warning"],
            result.safe,
            result.unsafe,
            result.left,
            "; ".join(result.failures) or "none",
        )
        for result in shown
    ]
    heads = (
        "repository",
        "files",
        "errors",
        "warnings",
        "files repaired",
        "more with unsafe fixes",
        "findings left",
        "failures",
    )
    return [
        f"Last run: {page.today()}, {len(results)} repositories, {files:,} files, {fixed:,} repaired, {failures} failures.",
        "",
        *page.table(heads, rows),
        "",
        f"Nothing to repair: {', '.join(silent) or 'none'}.",
    ]


def examine(repository: Repository, jobs: int, diffs: Path | None, named: bool = False) -> Result:
    """Works on a copy of one repository."""
    result = Result(repository.name, repository.commit)
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / "copy"
        repository.copy_to(copy)
        before = snapshot(copy)
        result.files = len(before)
        try:
            _repair_all(copy, jobs, result, before, diffs, named)
        except Exception:
            result.failures.append(traceback.format_exc()[-600:])
        finally:
            os.chdir(here)
    return result


def _repair_all(
    copy: Path, jobs: int, result: Result, before: dict[str, bytes], diffs: Path | None, named: bool
) -> None:
    safe = repair(copy, jobs, result, "SAFE", ["."])
    for outcome in safe:
        for finding in (*outcome.fixed, *outcome.findings):
            result.findings[finding.severity.name.lower()] += 1
    touchable = {_key(outcome) for outcome in safe if outcome.fixed or outcome.findings}
    after = snapshot(copy)
    result.safe = judge(result, before, after, touchable)
    if result.safe:
        repair(copy, jobs, result, "SAFE", changed(before, after) if named else ["."])
        result.failures += changed_again(after, snapshot(copy))
    unsafe = repair(copy, jobs, result, "UNSAFE", [_key(outcome) for outcome in safe if _is_open(outcome)])
    last = snapshot(copy)
    result.unsafe = judge(result, after, last, touchable)
    if result.unsafe:
        repair(copy, jobs, result, "UNSAFE", changed(after, last) if named else ["."])
        result.failures += changed_again(last, snapshot(copy))
    closed = (outcome for outcome in safe if not _is_open(outcome))
    result.left = sum(len(outcome.findings) for outcome in (*closed, *unsafe))
    if diffs is not None:
        diffs.mkdir(parents=True, exist_ok=True)
        name = result.name.replace("/", "+")
        (diffs / f"{name}.safe.diff").write_text("".join(difference(before, after, safe)), encoding="utf-8")
        (diffs / f"{name}.unsafe.diff").write_text("".join(difference(after, last, unsafe)), encoding="utf-8")


def repair(copy: Path, jobs: int, result: Result, kind: str, paths: Sequence[str]) -> list[Outcome]:
    """Repairs files of a copy, as the command line does; what there is to say of each. What could not be done is a failure."""
    if not paths:
        return []
    os.chdir(copy)
    run = runner.check(paths, Resolver(), repair=kind, write=True, processes=jobs)
    result.failures += run.problems
    return run.outcomes


def _is_open(outcome: Outcome) -> bool:
    """Whether an unsafe repair could change the file."""
    return any(finding.fix is not None for finding in outcome.findings)


def judge(result: Result, before: dict[str, bytes], after: dict[str, bytes], touchable: set[str]) -> int:
    """Adds what is wrong with what changed; how many files changed."""
    paths = changed(before, after)
    for path in paths:
        if path not in before or path not in after:
            result.failures.append(f"{path}: came or went")
            continue
        result.failures += [f"{path}: {fault}" for fault in faults(before[path], after[path], path)]
        if path not in touchable:
            result.failures.append(f"{path}: touched without a finding")
    return len(paths)


def changed_again(before: dict[str, bytes], after: dict[str, bytes]) -> Iterator[str]:
    """A failure for each file that a second repair changed."""
    return (f"{path}: a second repair changed it again" for path in changed(before, after))


def difference(before: dict[str, bytes], after: dict[str, bytes], outcomes: Iterable[Outcome]) -> Iterator[str]:
    """What changed, each file headed by the findings that were repaired in it."""
    outcome_of = {_key(outcome): outcome for outcome in outcomes}
    for path in changed(before, after):
        for finding in outcome_of[path].fixed if path in outcome_of else ():
            kind = finding.fix.applicability.value if finding.fix is not None else "no fix"
            yield f"# {finding.code} {kind} {path}:{finding.place}: {finding.message}\n"
        texts = ([f"{line}\n" for line in _text(raw)] for raw in (before[path], after[path]))
        yield from unified_diff(*texts, f"a/{path}", f"b/{path}", n=6)


def _text(raw: bytes) -> list[str]:
    return raw.decode("utf-8", "replace").splitlines()


def _key(outcome: Outcome) -> str:
    return Path(os.path.normpath(outcome.filename)).as_posix()


def snapshot(folder: Path) -> dict[str, bytes]:
    """The bytes of all files that the linter may touch, by their path in the folder."""
    paths = (
        path for path in folder.rglob("*") if path.suffix in _SUFFIXES and path.is_file() and not path.is_symlink()
    )
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(paths)}


def changed(before: dict[str, bytes], after: dict[str, bytes]) -> list[str]:
    """The paths whose bytes differ (or that came or went)."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def faults(before: bytes, after: bytes, path: str) -> list[str]:
    """What is wrong with a repaired file."""
    if path.endswith(".ipynb"):
        return [] if _is_json(after) else ["no longer JSON"]
    found = []
    if compiles(before) and not compiles(after):
        found.append("no longer compiles")
    elif not parses(after):
        found.append("no longer parses")
    if _encoding(before) != _encoding(after):
        found.append("another encoding")
    if strayed := newline_changes(before, after):
        found.append(f"the newline of line {strayed[0]} changed and nothing else of it")
    if new := _newlines(after) - _newlines(before):
        found.append(f"newlines that the file did not have: {sorted(new)}")
    return found


def compiles(raw: bytes) -> bool:
    """Whether this Python compiles it: also what parses but may not stand where it stands, such as a late __future__ import."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(raw, "<copy>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def parses(raw: bytes) -> bool:
    """Whether Python, or LibCST for older syntax, reads it."""
    import libcst

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(raw)
    except (SyntaxError, ValueError):
        try:
            libcst.parse_module(raw)
        except (libcst.ParserSyntaxError, UnicodeDecodeError):
            return False
    return True


def newline_changes(before: bytes, after: bytes) -> list[int]:
    """Rows (of the file before) of lines that differ in their newline alone."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    found = []
    for tag, start, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "replace":
            bare = {line.rstrip(b"\r\n") for line in new[first:last]}
            found += [row + 1 for row in range(start, end) if old[row].rstrip(b"\r\n") in bare and old[row].strip()]
    return found


def _newlines(raw: bytes) -> set[bytes]:
    return {line[len(line.rstrip(b"\r\n")) :] for line in raw.splitlines(keepends=True)} - {b""}


def _encoding(raw: bytes) -> str:
    return tokenize.detect_encoding(io.BytesIO(raw).readline)[0]


def _is_json(raw: bytes) -> bool:
    try:
        json.loads(raw)
    except ValueError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
