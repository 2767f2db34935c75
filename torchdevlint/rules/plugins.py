"""Rules of others: packages that name them under the entry point group `torchdevlint.rules`.

An entry point names a rule (a subclass of `torchdevlint.Rule`) or a module with rules. One that cannot be used is told in a sentence, and all others run.
"""

# Paths are strings here: most runs look for plug-ins and find none.
# ruff: noqa: PTH118

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from torchdevlint.findings import Severity
from torchdevlint.rules.rule import Rule
from torchdevlint.source import disk
from torchdevlint.source.reading import read_bytes

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "torchdevlint.rules"
_CODE = re.compile(r"(?!TDL)[A-Z]{2,10}\d{3}")
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")


class Plugins(NamedTuple):
    """The rules of all packages, and a sentence for each that cannot be used."""

    rules: tuple[type[Rule], ...]
    failures: tuple[str, ...]


class _Unusable(Exception):
    """A rule that cannot be used; the message says why."""


def load(known: Callable[[str], str | None]) -> Plugins:
    """The rules that installed packages offer. `known` gives the name of the rule that has a code or a name already."""
    rules: list[type[Rule]] = []
    failures: list[str] = []
    for entry in _entry_points():
        try:
            for rule in _rules_of(entry.load()):
                _refuse_clash(rule, known, rules)
                rules.append(rule)
        except (Exception, SystemExit) as error:
            why = (
                str(error)
                if isinstance(error, _Unusable)
                else f"{type(error).__name__}: {' '.join(str(error).split())}"
            )
            package = entry.dist.name if entry.dist is not None else entry.value
            failures.append(f"the rules {entry.name!r} of the package {package!r} are not used: {why}")
    return Plugins(tuple(rules), tuple(failures))


def _entry_points() -> list[EntryPoint]:
    """The entry points of the group; `importlib.metadata`, which takes long to import, is asked where a package offers some."""
    if not are_offered():
        return []
    from importlib.metadata import entry_points

    return sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))


def are_offered() -> bool:
    """Whether any installed package names rules."""
    return any(_offers(folder) for folder in dict.fromkeys(sys.path))


def _offers(folder: str) -> bool:
    try:
        packages = disk.packages(folder or ".")
    except OSError:
        return False
    return any(_mentions_group(os.path.join(package, "entry_points.txt")) for package in packages)


def _mentions_group(path: str) -> bool:
    try:
        return GROUP.encode() in read_bytes(path)
    except OSError:
        return False


def _rules_of(loaded: Any) -> Iterator[type[Rule]]:
    """The rule, or those that a module defines."""
    if isinstance(loaded, type):
        yield _usable(loaded)
        return
    found = [
        member
        for member in vars(loaded).values()
        if isinstance(member, type) and issubclass(member, Rule) and member.__module__ == loaded.__name__
    ]
    if not found:
        raise _Unusable(f"{loaded.__name__} defines no rule")
    yield from map(_usable, found)


def _usable(rule: type[Any]) -> type[Rule]:
    if not issubclass(rule, Rule):
        raise _Unusable(f"{rule.__name__} is no subclass of torchdevlint.Rule")
    code, name = getattr(rule, "code", None), getattr(rule, "name", None)
    if not isinstance(code, str) or not _CODE.fullmatch(code):
        raise _Unusable(f"the code {code!r} is none of letters other than TDL and three digits, such as ACME101")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise _Unusable(f"the name {name!r} of {code} is none of words and hyphens, such as no-such-thing")
    if not isinstance(getattr(rule, "severity", None), Severity):
        raise _Unusable(f"{code} has no severity")
    if not rule.documentation().strip() or not next(rule.hooks(), None):
        raise _Unusable(f"{code} has no docstring, or no check method with a decorator such as @on_call")
    return rule


def _refuse_clash(rule: type[Rule], known: Callable[[str], str | None], others: list[type[Rule]]) -> None:
    taken = next((str(found) for found in (known(rule.code), known(rule.name)) if found), None)
    taken = taken or next(
        (other.__name__ for other in others if rule.code == other.code or rule.name == other.name), None
    )
    if taken is not None:
        raise _Unusable(f"{rule.code} or {rule.name} is used by {taken}")
