"""Patterns of paths as in a .gitignore, in time that grows with the length of a path alone.

The patterns come from repositories that nobody vouches for, and one regular expression for a whole pattern can take years
(`*a*a*a*a*a*a*b.py`). Here a pattern is matched folder by folder: `**` by going back to the last one alone, `*` by the standard library's
`fnmatch`, whose expressions do not backtrack.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

_LONGEST = 4096  # characters; no system has longer paths
_SPECIAL = frozenset("*?[\\")


class PatternError(ValueError):
    """A pattern that means nothing; the message is a sentence."""


# What a name must satisfy: a test, or None for `**`, any number of folders.
_Part = Callable[[str], object] | None


class _Pattern(NamedTuple):
    parts: tuple[_Part, ...]
    includes: bool  # False: it begins with "!"
    folders_only: bool

    def matches(self, names: list[str], is_folder: bool) -> bool:
        """Whether the path of these names itself is meant."""
        if self.folders_only and not is_folder:
            return False
        parts = self.parts
        at = part = 0
        star = resume = -1
        while at < len(names):
            if part < len(parts) and (test := parts[part]) is None:
                star, resume = part, at
                part += 1
            elif part < len(parts) and test is not None and test(names[at]):
                at += 1
                part += 1
            elif star >= 0:
                resume += 1
                at, part = resume, star + 1
            else:
                return False
        return part == len(parts)


class Patterns:
    """The patterns of one .gitignore or setting; paths are relative to its folder, with `/`.

    As in git, the last pattern that matches decides, and what lies in a folder that is meant is meant with it.
    """

    def __init__(self, lines: Iterable[str], *, strict: bool = False) -> None:
        """Lines that mean nothing are passed over, as git does; with `strict` they raise `PatternError`."""
        self.written = tuple(lines)
        self._named: dict[str, list[tuple[int, _Pattern]]] = {}  # what is a name alone, most patterns of most files
        self._others: list[tuple[int, _Pattern]] = []
        for index, line in enumerate(self.written):
            try:
                self._add(index, line)
            except PatternError:
                if strict:
                    raise

    def _add(self, index: int, line: str) -> None:
        read = _read(line)
        if read is None:
            return
        parts, includes, folders_only = read
        if len(parts) == 2 and parts[0] == "**" and _SPECIAL.isdisjoint(parts[1]):
            self._named.setdefault(parts[1], []).append((index, _Pattern((), includes, folders_only)))
        else:
            tests = tuple(None if part == "**" else _test(part) for part in parts)
            self._others.append((index, _Pattern(tests, includes, folders_only)))

    def decide(self, path: str, is_folder: bool) -> bool | None:
        """What the patterns say of a path itself: True (it is meant), False (a `!` takes it out) or None (nothing)."""
        names = path.split("/")
        best, meant = -1, None
        for index, pattern in self._named.get(names[-1], ()):
            if is_folder or not pattern.folders_only:
                best, meant = index, pattern.includes
        for index, pattern in reversed(self._others):
            if index < best:
                break
            if pattern.matches(names, is_folder):
                return pattern.includes
        return meant

    def covers(self, path: str, is_folder: bool = False) -> bool:
        """Whether a path or a folder on the way to it is meant."""
        if not self._named and not self._others:
            return False
        names = path.split("/")
        return any(
            self.decide("/".join(names[:count]), is_folder or count < len(names)) for count in range(1, len(names) + 1)
        )


def read_patterns(raw: bytes) -> Patterns:
    """The patterns of a .gitignore file."""
    text = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return Patterns(line.removesuffix("\r") for line in text.split("\n"))


def _read(line: str) -> tuple[tuple[str, ...], bool, bool] | None:
    """A line's parts, whether it includes, and whether it means folders alone; None for a blank line or a comment."""
    text = line.rstrip("\n")
    bare = text.rstrip(" ")
    if bare != text and (len(bare) - len(bare.rstrip("\\"))) % 2:
        bare += " "  # `\ ` at the end is a blank of the name
    if not bare or bare.startswith("#"):
        return None
    includes = not bare.startswith("!")
    body = bare if includes else bare[1:]
    folders_only = body.endswith("/")
    body = body.removesuffix("/")
    if len(body) > _LONGEST:
        raise PatternError(f"a pattern is longer than {_LONGEST} characters")
    if not body:
        if includes:
            return None
        raise PatternError(f"the pattern {line!r} names nothing")
    anchored = "/" in body
    parts = [part for index, part in enumerate(body.split("/")) if part or index]
    if not anchored and parts != ["**"]:
        parts.insert(0, "**")
    if parts[-1] == "**":
        parts.append("*")  # `folder/**` is what lies in the folder
    return tuple(parts), includes, folders_only


@lru_cache(maxsize=4096)
def _test(part: str) -> Callable[[str], object]:
    """Whether a name matches a part without `/`; raises `PatternError`."""
    if _SPECIAL.isdisjoint(part):
        return part.__eq__
    if part == "*":
        return bool
    try:
        return re.compile(fnmatch.translate(_for_fnmatch(part))).match
    except (re.error, OverflowError, RecursionError):
        raise PatternError(f"the pattern {part!r} cannot be read") from None


def _for_fnmatch(part: str) -> str:
    """git's spelling as the standard library's, which knows no backslash."""
    pieces = []
    at = 0
    while at < len(part):
        character = part[at]
        at += 1
        if character == "\\":
            if at == len(part):
                raise PatternError(f"the pattern {part!r} ends in a backslash")
            character = part[at]
            at += 1
            pieces.append(f"[{character}]" if character in "*?[" else character)
        elif character == "[":
            found = _SET.match(part, at)
            if found is None:
                raise PatternError(f"the pattern {part!r} has a [ without its ]")
            inner = re.sub(r"\\(.)", r"\1", found[2])
            pieces.append(f"[{'!' if found[1] else ''}{inner}]")
            at = found.end()
        elif character == "*" and pieces and pieces[-1] == "*":
            continue
        else:
            pieces.append(character)
    return "".join(pieces)


_SET = re.compile(r"([!^]?)(\]?(?:[^\]\\]|\\.)*)\]")
