"""From paths on the command line to the files to check, each with its settings."""

# Paths are strings here: a Path object for each file of a large repository costs more than the byte test.
# ruff: noqa: PTH100, PTH118, PTH119, PTH120

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from torchdevlint.settings import Resolver, Settings, SettingsError, matches
from torchdevlint.source import disk
from torchdevlint.source.folders import DEFAULT_EXCLUDE
from torchdevlint.source.patterns import Patterns, read_patterns
from torchdevlint.source.reading import LARGEST_SETTINGS, read_bytes

SUFFIXES = (".py", ".pyi", ".ipynb")
_Ignores = tuple[tuple[str, Patterns], ...]


class Target(NamedTuple):
    """One file to check. `path` is spelled as the user spelled its beginning."""

    path: str
    settings: Settings


class Discovery:
    """Walks paths. `problems` are sentences about paths and settings that could not be used; the walk goes on behind them.

    `notes` are sentences about what was passed over and changes no exit code.
    """

    def __init__(self, resolver: Resolver, problems: list[str] | None = None, notes: list[str] | None = None) -> None:
        self.resolver = resolver
        self.problems = [] if problems is None else problems
        self.notes = [] if notes is None else notes
        self._seen: set[str] = set()
        self._resolved: dict[str, str] = {}

    def targets(self, paths: Sequence[str]) -> Iterator[Target]:
        """The files of the paths, each once. A file that is named itself is checked whatever its name (see `force-exclude`)."""
        for path in paths:
            if disk.is_folder(path):
                yield from self._argument_folder(path)
            elif disk.exists(path):
                yield from self._argument_file(path)
            else:
                self.problems.append(f"{path}: no such file or directory")

    def _argument_file(self, path: str) -> Iterator[Target]:
        settings = self._settings(os.path.dirname(os.path.abspath(path)))
        if settings is None or (settings.force_exclude and self.is_excluded_argument(path, settings)):
            return
        yield from self._once(path, self._real(os.path.abspath(path)), settings)

    def _argument_folder(self, path: str) -> Iterator[Target]:
        folder = os.path.abspath(path)
        settings = self._settings(folder)
        if settings is None or (settings.force_exclude and self.is_excluded_argument(path, settings)):
            return
        ignores = self._ignores_above(folder) if settings.respect_gitignore else ()
        if ignores and _is_within_ignored(folder, ignores):
            return
        yield from self._walk(path, folder, ignores)

    def _walk(self, path: str, folder: str, ignores: _Ignores) -> Iterator[Target]:
        """The files below a folder; `path` is its name for reports, `folder` its absolute name."""
        stack = [(path, folder, self._real(folder), ignores)]
        while stack:
            path, folder, real, ignores = stack.pop()
            settings = self._settings(folder)
            entries = self._entries(path)
            if settings is None:
                continue
            if settings.respect_gitignore and any(entry.name == ".gitignore" for entry in entries):
                ignores = (*ignores, *self._gitignore(folder))
            below = []
            for entry in entries:
                name = entry.name
                # Links to folders are not followed: what they show is checked at its own place, and they can form loops.
                is_folder = entry.is_dir(follow_symlinks=False)
                if not is_folder and (not name.endswith(SUFFIXES) or not self._is_file(entry)):
                    continue
                absolute = os.path.join(folder, name)
                if _is_excluded(name, absolute, is_folder, settings) or (
                    ignores and _is_ignored(absolute, is_folder, ignores)
                ):
                    continue
                if is_folder:
                    below.append((entry.path if path != "." else name, absolute, os.path.join(real, name), ignores))
                else:
                    key = disk.real(absolute) if entry.is_symlink() else os.path.join(real, name)
                    yield from self._once(entry.path if path != "." else name, key, settings)
            stack.extend(reversed(below))

    def _is_file(self, entry: os.DirEntry[str]) -> bool:
        try:
            return entry.is_file()
        except OSError as error:  # a link to itself, or to what may not be looked at
            self.problems.append(f"{entry.path}: {error.strerror}")
            return False

    def _entries(self, path: str) -> list[os.DirEntry[str]]:
        try:
            return sorted(disk.entries(path), key=lambda entry: entry.name)
        except OSError as error:
            self.problems.append(f"{path}: {error.strerror}")
            return []

    def _once(self, path: str, real: str, settings: Settings) -> Iterator[Target]:
        if real not in self._seen:
            self._seen.add(real)
            yield Target(path, settings)

    def _real(self, path: str) -> str:
        """An absolute path without links, also of the folders above it, each of which is looked at once."""
        known = self._resolved.get(path)
        if known is None:
            folder, name = os.path.split(path)
            found = disk.real(path)
            known = os.path.join(self._real(folder), name) if found == path and name else found
            self._resolved[path] = known
        return known

    def _settings(self, folder: str) -> Settings | None:
        try:
            return self.resolver.for_folder(folder)
        except SettingsError as error:
            if str(error) not in self.problems:
                self.problems.append(str(error))
            return None

    def is_excluded_argument(self, path: str, settings: Settings) -> bool:
        """With force-exclude: whether a named path or a folder above it (up to the settings' root) is excluded."""
        absolute = os.path.abspath(path)
        is_folder = disk.is_folder(absolute)
        while absolute.startswith(settings.root.rstrip(os.sep) + os.sep):
            if _is_excluded(os.path.basename(absolute), absolute, is_folder, settings):
                return True
            absolute, is_folder = os.path.dirname(absolute), True
        return False

    def _ignores_above(self, folder: str) -> _Ignores:
        """The .gitignore files of the folders between the repository's root and `folder`, outermost first; none outside a repository."""
        found: list[tuple[str, Patterns]] = []
        while not disk.exists(os.path.join(folder, ".git")):
            parent = os.path.dirname(folder)
            if parent == folder:
                return ()
            folder = parent
            found += self._gitignore(folder)
        return tuple(reversed(found))

    def _gitignore(self, folder: str) -> _Ignores:
        """The patterns of a folder's .gitignore, if it is a regular file, as git reads it."""
        path = os.path.join(folder, ".gitignore")
        if not disk.is_regular(path):
            note = f"{path}: not read, as it is no regular file"
            if disk.lexists(path) and note not in self.notes:
                self.notes.append(note)
            return ()
        try:
            return ((folder, read_patterns(read_bytes(path, LARGEST_SETTINGS))),)
        except OSError as error:
            problem = f"{path}: {error.strerror}"
            if problem not in self.problems:
                self.problems.append(problem)
            return ()


def _is_excluded(name: str, absolute: str, is_folder: bool, settings: Settings) -> bool:
    if settings.exclude is None and is_folder and name in DEFAULT_EXCLUDE:
        return True
    patterns = (settings.exclude or ()) + settings.extend_exclude
    return bool(patterns) and matches(patterns, settings.root, absolute, is_folder=is_folder)


def _is_within_ignored(folder: str, ignores: _Ignores) -> bool:
    """Whether a folder, or one on the way to it from the repository's root, is ignored."""
    root = ignores[0][0]
    while len(folder) > len(root):
        if _is_ignored(folder, True, tuple((home, p) for home, p in ignores if len(home) < len(folder))):
            return True
        folder = os.path.dirname(folder)
    return False


def _is_ignored(absolute: str, is_folder: bool, ignores: _Ignores) -> bool:
    """As git decides: the last pattern that matches, of the innermost .gitignore that has one."""
    for folder, patterns in reversed(ignores):
        meant = patterns.decide(absolute[len(folder.rstrip(os.sep)) + 1 :].replace(os.sep, "/"), is_folder)
        if meant is not None:
            return meant
    return False
