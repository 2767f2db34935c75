"""Which files are test code: there values are moved and trivial failures are eased."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

_FOLDER = re.compile(
    r"_*(unit|integration|functional)?_?tests?(_?(utils?|helpers?|cases?|lib|common|functional|integration))?|testing|test_.*|.*_tests?"
)
_FILE = re.compile(r"test_.*|.*_tests?|tests?|conftest|testing|.*_testing|testutils?|test_?helpers?")
_INSTALLED = ("site-packages", "dist-packages")


class TestCode:
    """Tells test code, by path. A folder counts by its name below the root of the suite or of a library."""

    __test__ = False

    def __init__(self, root: str, library: Sequence[str] = (), tests: Sequence[str] = ()) -> None:
        self.roots = [_folder(path) for path in (*library, root)]
        self.library = [_folder(path) for path in library]
        self.tests = tuple(tests)
        self._known: dict[str, bool] = {}

    def holds(self, file: str) -> bool:
        """Whether a file is test code."""
        known = self._known.get(file)
        if known is None:
            known = self._known[file] = self._look(file)
        return known

    def is_library(self, file: str) -> bool:
        """Whether a file belongs to the library under test: below its folders, or, without any, below the root; no test code."""
        if self.holds(file):
            return False
        if self.library:
            return file.startswith(tuple(self.library))
        return file.startswith(self.roots[-1]) and not any(name in file for name in _INSTALLED)

    def _look(self, file: str) -> bool:
        for path in self.tests:
            if file == path or file.startswith(_folder(path)):
                return True
        root = next((root for root in self.roots if file.startswith(root)), None)
        if root is None or (root == self.roots[-1] and any(name in file[len(root) :] for name in _INSTALLED)):
            return False
        *folders, name = Path(file[len(root) :]).parts
        return bool(_FILE.fullmatch(name.removesuffix(".py"))) or any(map(_FOLDER.fullmatch, folders))


def _folder(path: str) -> str:
    return path if path.endswith((os.sep, ".py")) else path + os.sep
