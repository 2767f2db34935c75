"""All rules, found by importing the modules of the rule packages: a new rule is a new file and nothing else. Those of others: see `plugins`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from torchdevlint import rules
from torchdevlint.rules import plugins
from torchdevlint.rules.rule import Rule


@cache
def all_rules() -> tuple[type[Rule], ...]:
    """Every rule, sorted by code: our own, and those of plug-ins."""
    return tuple(sorted((*own_rules(), *_plugins().rules), key=lambda rule: rule.code))


def failures() -> tuple[str, ...]:
    """A sentence for each plug-in that cannot be used."""
    return _plugins().failures


@cache
def _plugins() -> plugins.Plugins:
    taken = {word: rule.__name__ for rule in own_rules() for word in (rule.code, rule.name)}
    return plugins.load(taken.get)


@cache
def own_rules() -> tuple[type[Rule], ...]:
    """The rules of this package, sorted by code."""
    found: dict[str, type[Rule]] = {}
    for package in pkgutil.iter_modules(rules.__path__, rules.__name__ + "."):
        if not package.ispkg:
            continue
        parent = importlib.import_module(package.name)
        for module in pkgutil.iter_modules(parent.__path__, package.name + "."):
            for member in vars(importlib.import_module(module.name)).values():
                if isinstance(member, type) and issubclass(member, Rule) and member.__module__ == module.name:
                    clash = found.setdefault(member.code, member)
                    if clash is not member:
                        raise RuntimeError(f"{member.code} is used by {clash.__name__} and {member.__name__}")
    return tuple(found[code] for code in sorted(found))


def rule_by_code(code: str) -> type[Rule] | None:
    """The rule with this code (any case) or name, or None."""
    wanted = code.upper()
    for rule in all_rules():
        if rule.code == wanted or rule.name == code.lower():
            return rule
    return None
