"""What has changed since the last look: by the names, times and sizes of files and by their settings. Nothing of the system is asked for that."""

# Paths are strings here: see discovery.
# ruff: noqa: PTH100, PTH116

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from torchdevlint.program.project import Project, member
from torchdevlint.settings import Resolver, Settings
from torchdevlint.workspace.discovery import Discovery

_Stamp = tuple[int, int, int]


class Seen(NamedTuple):
    """One look. `changed` are the files to examine, `files` all of them; `is_news`: something differs from the last look."""

    files: tuple[str, ...]
    changed: tuple[str, ...]
    is_news: bool
    problems: tuple[str, ...]
    notes: tuple[str, ...]


class Watch:
    """Looks at the files of paths. `resolver` makes a new one for each look, so that settings are read again."""

    def __init__(self, paths: Sequence[str], resolver: Callable[[], Resolver]) -> None:
        self._paths, self._resolver = paths, resolver
        self._known: dict[str, tuple[Settings, _Stamp]] | None = None
        self._problems: list[str] = []

    def look(self) -> Seen:
        """What is there now. At the first look everything has changed."""
        problems: list[str] = []
        notes: list[str] = []
        targets = Discovery(self._resolver(), problems, notes).targets(self._paths)
        found = {target.path: (target.settings, _stamp(target.path)) for target in targets}
        before = self._known
        if before is None:
            changed = list(found)
        else:
            differing = [path for path, stamp in found.items() if before.get(path) != stamp]
            gone = [path for path in before if path not in found]
            changed = [*differing, *_importers((*differing, *gone), found)]
        is_news = before is None or bool(changed) or found.keys() != before.keys() or problems != self._problems
        self._known, self._problems = found, problems
        return Seen(tuple(found), tuple(dict.fromkeys(changed)), is_news, tuple(problems), tuple(notes))


def _stamp(path: str) -> _Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0, 0
    return found.st_mtime_ns, found.st_size, found.st_ino


def _importers(changed: Iterable[str], found: Iterable[str]) -> Iterator[str]:
    """The files that import those that have changed: what is said of them may rest on these."""
    names = {os.path.abspath(path): path for path in found}
    projects: dict[str, Project] = {}
    for path in changed:
        place = member(path)
        if place is not None and path.endswith(".py"):
            project = projects.setdefault(place.project.root, Project(place.project.root))
            yield from (names[other] for other in project.importing(place.path) if other in names)
