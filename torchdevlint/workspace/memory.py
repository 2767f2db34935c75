"""What a process knows of projects, forgotten: for one that examines many of them, or whose files change meanwhile."""

from __future__ import annotations

import sys

from torchdevlint.program import project

_RULES = ("torchdevlint.rules.", "torchdevlint.facts.")
_ROOMS = (
    *_RULES,
    *(f"torchdevlint.program.{name}" for name in ("order", "project", "roles")),
    "torchdevlint.infer.kept",
)
_STAYS = "torchdevlint.rules.registry"  # what the rules are does not change
MOST_PROJECTS = 8


def forget_projects() -> None:
    """Lets go of the files that were read, and of all that was found out about them."""
    project._LINTED.clear()
    _forget(_ROOMS)


def forget_answers() -> None:
    """Lets go of what rules and facts remember of a Program that may change (see torchdevlint.program.revision)."""
    _forget(_RULES)


def _forget(rooms: tuple[str, ...]) -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith(rooms) and name != _STAYS:
            for member in list(vars(module).values()):
                if hasattr(member, "cache_clear"):
                    member.cache_clear()


def forget_many_projects() -> None:
    """The same, once they are many."""
    if project._project.cache_info().currsize > MOST_PROJECTS:
        forget_projects()
