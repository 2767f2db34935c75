"""The questions of an earlier run about projects, asked again: most of them without a look at the files that have not changed."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any

from torchdevlint.program.project import QUESTIONS, WORKED_OUT, Member, Project
from torchdevlint.source.grounds import Question


class Again:
    """One project of an earlier run. `is_changed` tells of a file whether its bytes are other ones; `is_moved`: it has other files than it had.

    `is_environment_changed`: something differs in the folder of the packages that are installed where it runs.
    """

    def __init__(
        self, project: Project, is_changed: Callable[[str], bool], *, is_moved: bool, is_environment_changed: bool
    ) -> None:
        self.project = project
        files, texts = project.walked
        self._changed: Set[str] = frozenset(path for path in (*files, *texts) if is_changed(path))
        self._is_changed, self._is_moved = is_changed, is_moved
        self._is_environment_changed = is_environment_changed
        self._has_new_package = is_moved or any(path.endswith("__init__.py") for path in self._changed)

    def answer(self, question: Question, before: Any) -> Any:
        """The answer now; `before` itself where nothing that it rests on has changed."""
        kind, _, *given = question
        project = self.project
        match kind:
            case "digest" | "is_test" | "says" | "matches" if not self._is_changed(str(given[0])):
                return before
            case "resolve" | "is_path_entry" | "is_in_package" if not (self._is_moved or self._is_environment_changed):
                return before
            case "installed" if not self._is_environment_changed:
                return before
            case "imported_by" if not (
                self._is_moved or self._is_environment_changed or self._is_changed(str(given[0]))
            ):
                return before
            case "is_offered" if not self._has_new_package:
                return before
            case "digest":
                return project.digest(*given)  # type: ignore[arg-type]
            case "importing":
                return project.importing_again(given[0], before, self._changed)  # type: ignore[arg-type]
            case "holding":
                return project.holding_again(*given, before, self._changed)  # type: ignore[arg-type, call-arg]
            case "mentioning":
                return project.mentioning_again(*given, before, self._changed)  # type: ignore[arg-type, call-arg]
        return QUESTIONS[str(kind)](project, *given)


def worked_out_again(question: Question, project: Project) -> Any:
    """The answer to a question that is worked out of others; raises `KeyError` for one that is none."""
    name, _, *path = question
    return WORKED_OUT[str(name)](Member(project, str(path[0])) if path else project)
