"""Checks and repairs copies of real repositories, and looks at what was written.

usage: python benchmarks/real_code.py FOLDER... [--jobs N] [--diffs FOLDER] [--named] [--write] [--keep FILE]

A repository fails when the linter crashes (exit code 2, a traceback), when a repaired file does not parse, when a second repair changes
anything, when a file without a finding is touched, or when bytes changed that no repair meant: newlines, encoding. With `--named` the whole
repository is checked once, and the repairs are given the files that have findings by name. Exit code 1 when any repository fails.
`--keep` appends each result to a file as a line of JSON, and leaves out repositories that it holds already.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import shutil
import subprocess
import sys
import tempfile
import tokenize
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from difflib import SequenceMatcher
from pathlib import Path

import page

_SUFFIXES = (".py", ".pyi", ".ipynb")
_LIMIT_S = 1800


@dataclass(slots=True)
class Result:
    """What one repository gave."""

    name: str
    files: int = 0
    findings: Counter[str] = field(default_factory=Counter)
    """By severity."""
    safe: int = 0
    """Files changed by --fix."""
    unsafe: int = 0
    """Files changed by --unsafe-fixes after that."""
    left: int = 0
    """Findings left at the end."""
    failures: list[str] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--jobs", type=int, default=1, help="processes of the linter")
    parser.add_argument("--diffs", type=Path, help="where to leave what each repair changed")
    parser.add_argument("--named", action="store_true", help="repair the files that have findings, by their names")
    parser.add_argument("--keep", type=Path, help="a file that results are kept in")
    parser.add_argument("--write", action="store_true", help="write the table into docs/benchmarks.md")
    options = parser.parse_args()
    results = kept(options.keep)
    known = {result.name for result in results}
    for folder in options.folders:
        if name_of(folder) in known:
            continue
        results.append(examine(folder, options.jobs, options.diffs, options.named))
        print(*told(results[-1]), sep="\n", flush=True)
        if options.keep is not None:
            with options.keep.open("a", encoding="utf-8") as file:
                file.write(
                    json.dumps({known.name: getattr(results[-1], known.name) for known in fields(Result)}) + "\n"
                )
        if options.write:
            page.write_section("real code", section(results))
    return 1 if any(result.failures for result in results) else 0


def name_of(folder: Path) -> str:
    """The name of a repository: "owner/name" of a folder "owner+name"."""
    return folder.name.replace("+", "/", 1)


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
    """The section of docs/benchmarks.md."""
    rows = [
        (
            result.name,
            result.files,
            result.findings["error"],
            result.findings["warning"],
            result.safe,
            result.unsafe,
            result.left,
            "; ".join(result.failures) or "none",
        )
        for result in sorted(results, key=lambda result: result.name.lower())
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
    files, fixed = sum(result.files for result in results), sum(result.safe + result.unsafe for result in results)
    return [
        f"Last run: {page.today()}, {len(results)} repositories, {files:,} files, {fixed:,} repaired.",
        "",
        *page.table(heads, rows),
    ]


def examine(folder: Path, jobs: int, diffs: Path | None, named: bool = False) -> Result:
    """Works on a copy of one repository."""
    result = Result(name_of(folder))
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / folder.name
        shutil.copytree(folder, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        before = snapshot(copy)
        result.files = len(before)
        found = run(copy, jobs, result, ".", "--output-format", "json")
        for finding in found:
            result.findings[finding["severity"]] += 1
        touchable = {Path(finding["filename"]).relative_to(copy.resolve()).as_posix() for finding in found}
        if not touchable:
            return result
        paths = sorted(f"./{path}" for path in touchable) if named else ["."]
        after = repair(copy, jobs, result, before, diffs, "safe", *paths)
        result.safe = len(changed(before, after))
        last = repair(copy, jobs, result, after, diffs, "unsafe", "--unsafe-fixes", *paths)
        result.unsafe = len(changed(after, last))
        result.failures += [
            f"{path}: touched without a finding" for path in changed(before, last) if path not in touchable
        ]
        result.left = len(run(copy, jobs, result, *paths, "--output-format", "json"))
    return result


def run(copy: Path, jobs: int, result: Result, *options: str) -> list[dict[str, str]]:
    """Runs `check`; the findings, when JSON was asked for."""
    command = [sys.executable, "-m", "torchdevlint", "check", "-j", str(jobs), *options]
    done = subprocess.run(command, capture_output=True, timeout=_LIMIT_S, check=False, cwd=copy)
    errors = done.stderr.decode("utf-8", "replace")
    if done.returncode not in (0, 1) or "Traceback" in errors:
        result.failures.append(f"exit code {done.returncode}: {errors.strip()[-300:]}")
    if "json" in options and done.stdout:
        found: list[dict[str, str]] = json.loads(done.stdout)
        return found
    return []


def repair(
    copy: Path, jobs: int, result: Result, before: dict[str, bytes], diffs: Path | None, name: str, *options: str
) -> dict[str, bytes]:
    """Repairs twice; the files after that."""
    if diffs is not None:
        diffs.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "torchdevlint", "check", "-j", str(jobs), "--diff", *options]
        done = subprocess.run(command, capture_output=True, timeout=_LIMIT_S, check=False, cwd=copy)
        (diffs / f"{copy.name}.{name}.diff").write_bytes(done.stdout)
    run(copy, jobs, result, "--fix", *options)
    after = snapshot(copy)
    for path in changed(before, after):
        result.failures += [f"{path}: {fault}" for fault in faults(before[path], after[path], path)]
    run(copy, jobs, result, "--fix", *options)
    again = snapshot(copy)
    result.failures += [f"{path}: a second repair changed it again" for path in changed(after, again)]
    return again


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
    if not parses(after):
        found.append("no longer parses")
    if _encoding(before) != _encoding(after):
        found.append("another encoding")
    if strayed := newline_changes(before, after):
        found.append(f"the newline of line {strayed[0]} changed and nothing else of it")
    if new := _newlines(after) - _newlines(before):
        found.append(f"newlines that the file did not have: {sorted(new)}")
    return found


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
