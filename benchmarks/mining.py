"""Repairs of device faults in the histories of repositories, found without reading them.

A commit counts when it changes few Python files and one of its lines differs from its old self by device handling alone; what was inserted
gives the family. Commits are chosen by what they change, not by the words of their message: `git log -G` looks for a changed line that handles
devices. Perhaps one case in five is no fault (a change of taste, a move to a better place), so figures are for comparison and 100% is no aim.
"""

from __future__ import annotations

import difflib
import hashlib
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

MOST_FILES, MOST_LINES, MOST_PATCH = 12, 12, 60_000
TOUCHES = r"\.to\(|\.cuda\(|\.cpu\(|device *=|map_location|register_buffer|type_as|Module(List|Dict)\(|\.new_(zeros|ones|full|empty|tensor)"

_DEVICE = r"""(?:(?:self\.|\w+\.)*_?\w*device\w*|torch\.device\([^)]*\)|[\w.\[\]]+\.device|"cpu"|'cpu')"""
_FACTORIES = (
    r"torch\.(?:zeros|ones|empty|full|rand\w*|arange|linspace|logspace|tensor|eye|tril_indices|triu_indices|as_tensor|from_numpy|normal"
    r"|\w+_window)\w*\("
)


class Family(NamedTuple):
    """`gained` occurs more often in the new line than in the old one, which holds `had`."""

    name: str
    gained: re.Pattern[str]
    had: re.Pattern[str]


def _family(name: str, gained: str, had: str) -> Family:
    return Family(name, re.compile(gained), re.compile(had))


FAMILIES = (  # the first that fits
    _family("load-no-map-location", r"map_location\s*=", r"\bload\w*\("),
    _family("buffer-not-registered", r"register_buffer\(", r"self\.\w+\s*="),
    _family("submodule-in-plain-list", r"\bModule(?:List|Dict)\(", r"self\.\w+\s*="),
    _family("creation", rf"device\s*=\s*{_DEVICE}", _FACTORIES),
    _family(
        "creation",
        r"\.new_(?:zeros|ones|full|empty|tensor)\(|_like\(",
        r"torch\.(?:zeros|ones|full|empty|tensor|randn?)\(",
    ),
    _family("numpy-on-gpu", r"\.cpu\(\)", r"numpy|np\.|\.tolist|plt\.|plot|sklearn|scipy"),
    _family("hardcoded-cuda", rf"\.to\({_DEVICE}", r"\.cuda\(|['\"]cuda"),
    _family("hardcoded-cuda", _DEVICE, r"['\"]cuda(?::\d)?['\"]"),
    _family(
        "new-tensor-type-legacy",
        r"\.to\(|type_as|device",
        r"torch\.(?:cuda\.)?(?:Float|Long|Byte|Bool|Double|Half|Int)Tensor\(",
    ),
    _family("not-moved", rf"\.to\(\s*(?:device\s*=\s*)?{_DEVICE}", r"\w"),
    _family("not-moved", r"\.cuda\(", r"\w"),
)

_TEST = re.compile(r"(?:^|/)tests?(?:/|_)|_test\.py$|(?:^|/)conftest\.py$|(?:^|/)setup\.py$")
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)")
_NEUTRAL = tuple(
    (re.compile(pattern), by)
    for pattern, by in (
        (r",?\s*(?:device|map_location)\s*=\s*(?:[\w.]+\([^()]*\)|[^,()]+)", ""),
        (
            r"\.to\((?:[^()]|\([^()]*\))*\)|\.cuda\([^()]*\)|\.cpu\(\)|\.detach\(\)|\.type_as\([^()]*\)|\.type\([^()]*\)",
            "",
        ),
        (
            r"self\.register_buffer\(\s*(?:name\s*=\s*)?f?['\"](\w+)['\"],\s*(?:tensor\s*=\s*)?(.*?)(?:,\s*persistent=\w+)?\)\s*$",
            r"self.\1=\2",
        ),
        (r"(?:torch\.)?(?:nn\.)?Module(?:List|Dict)\((.*)\)", r"\1"),
        (r"[\w.]+\.new_(zeros|ones|full|empty|tensor)\(", r"torch.\1("),
        (r"torch\.(zeros|ones|empty|full|rand|randn)_like\([^()]*\)", r"torch.\1()"),
        (r"torch\.(?:cuda\.)?\w*Tensor\(", "torch.tensor("),
        (r"\s+|,(?=\))", ""),
    )
)


@dataclass(frozen=True, slots=True)
class Case:
    """A repair: references only, no code. Lines are 1-based; `before` in the parent commit, `after` in the repairing one."""

    id: str
    repo: str
    fix_commit: str
    parent_commit: str
    path: str
    category: str
    before_lines: tuple[int, ...]
    after_lines: tuple[int, ...]


class Hunk(NamedTuple):
    """One hunk of a patch without context."""

    path: str
    start: int
    old: list[str]
    new_start: int
    new: list[str]


def without_devices(line: str) -> str:
    """A line without its device handling: two lines that agree then differ by device handling alone."""
    line = line.strip()
    for pattern, by in _NEUTRAL:
        line = pattern.sub(by, line)
    return line


def family_of(old: str, new: str) -> str | None:
    """The family of a repair of one line, None where the line is no repair."""
    if old.strip() == new.strip() or old.lstrip().startswith("#") or len(old) > 400 or len(new) > 400:
        return None
    for family in FAMILIES:
        if len(family.gained.findall(new)) > len(family.gained.findall(old)) and family.had.search(old):
            return family.name
    return None


def hunks(patch: str) -> Iterator[Hunk]:
    """The hunks of a `-U0` patch that change lines of Python files outside tests."""
    path, hunk = None, None
    for line in patch.splitlines():
        if line.startswith(("diff --git", "--- ", "@@")) and hunk is not None:
            yield hunk
            hunk = None
        if line.startswith("diff --git"):
            path = None
        elif line.startswith("--- "):
            path = line[6:] if line.startswith("--- a/") and line.endswith(".py") and not _TEST.search(line) else None
        elif (match := _HUNK.match(line)) and path is not None:
            hunk = Hunk(path, int(match[1]), [], int(match[2]), [])
        elif hunk is not None and line.startswith("-"):
            hunk.old.append(line[1:])
        elif hunk is not None and line.startswith("+"):
            hunk.new.append(line[1:])
    if hunk is not None:
        yield hunk


def cases_of(repo: str, commit: str, parent: str, patch: str) -> Iterator[Case]:
    """The cases of one commit, a case for each file and family."""
    if len(patch) > MOST_PATCH or patch.count("diff --git") > MOST_FILES:
        return
    found: dict[tuple[str, str], tuple[list[int], list[int]]] = {}
    for hunk in hunks(patch):
        if not hunk.old or not hunk.new or len(hunk.old) > MOST_LINES:
            continue
        old, new = [without_devices(line) for line in hunk.old], [without_devices(line) for line in hunk.new]
        for tag, i, j, k, _ in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            for step in range(j - i if tag == "equal" else 0):
                family = family_of(hunk.old[i + step], hunk.new[k + step])
                if family is not None:
                    before, after = found.setdefault((hunk.path, family), ([], []))
                    before.append(hunk.start + i + step)
                    after.append(hunk.new_start + k + step)
    for (path, family), (before, after) in found.items():
        if len(before) <= MOST_LINES:
            tail = hashlib.sha1((path + family).encode()).hexdigest()[:4]
            identity = f"{repo.split('/')[1].lower()}-{commit[:8]}-{tail}"
            yield Case(identity, repo, commit, parent, path, family, tuple(before), tuple(after))


def git_dir(mirrors: Path, repo: str) -> Path | None:
    """The git directory of a fetched repository: `OWNER+NAME`, bare or with a work tree inside."""
    base = mirrors / repo.replace("/", "+")
    return next((path for tail in ("repo/.git", "repo", ".git", "") if ((path := base / tail) / "HEAD").exists()), None)


def git(folder: Path, *arguments: str, seconds: float | None = None) -> bytes:
    """What git prints; raises `subprocess.TimeoutExpired`."""
    command = ["git", "-c", "safe.directory=*", "--git-dir", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, timeout=seconds, check=False).stdout


def contents(folder: Path, commit: str, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """The files of a commit that the repository holds: a snapshot may lack the largest ones."""
    names = [name for name in names if "\n" not in name]
    command = ["git", "-c", "safe.directory=*", "--git-dir", str(folder), "cat-file", "--batch"]
    asked = "".join(f"{commit}:{name}\n" for name in names).encode("utf-8", "surrogateescape")
    told = subprocess.run(command, input=asked, capture_output=True, check=False).stdout
    at = 0
    for name in names:
        end = told.find(b"\n", at)
        if end < 0:
            return
        head, at = told[at:end].split(), end + 1
        if len(head) == 3 and head[1] == b"blob":
            size = int(head[2])
            yield name, told[at : at + size]
            at += size + 1


def mine(repo: str, folder: Path, most: int, seconds: float) -> Iterator[Case]:
    """At most `most` cases of a repository, the newest first; what git has not told within `seconds` is left out."""
    head = "\x01%H %P"
    command = [
        "git",
        "-c",
        "safe.directory=*",
        "--git-dir",
        str(folder),
        "log",
        "--no-merges",
        "-U0",
        "--no-color",
        "--no-renames",
    ]
    command += ["-E", f"-G{TOUCHES}", "--pickaxe-all", f"--format={head}", "--", "*.py"]
    try:
        done = subprocess.run(["timeout", str(int(seconds)), *command], capture_output=True, check=False)
    except OSError as error:
        raise SystemExit(f"git could not be run: {error}") from error
    found = 0
    for entry in done.stdout.decode("utf-8", "replace").split("\x01")[1:]:
        first, _, patch = entry.partition("\n")
        commit, *parents = first.split()
        if len(parents) != 1:
            continue
        for case in cases_of(repo, commit, parents[0], patch):
            yield case
            found += 1
            if found >= most:
                return
