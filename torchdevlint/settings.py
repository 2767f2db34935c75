"""`[tool.torchdevlint]` of pyproject.toml, the command line over it, and what follows for one file: one frozen `Settings`."""

# Paths are strings and values named tuples here: pathlib and dataclasses would take longer to import than a run without torch takes.
# ruff: noqa: PTH100, PTH109, PTH116, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from torchdevlint.severity import Severity

if TYPE_CHECKING:
    from torchdevlint.rules.rule import Rule

PYPROJECT = "pyproject.toml"
DOES_NOT_PARSE = "TDL000"
UNUSED_SUPPRESSION = "TDL001"


class SettingsError(Exception):
    """Settings that cannot be used; the message says where and what to do."""


class Selection(NamedTuple):
    """Which rules one source of settings (a table, the command line) turns on and off, as codes or their prefixes."""

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def decide(self, code: str, before: bool) -> bool:
        """Whether the rule is on, given whether it was `before`: the longest matching prefix wins, `ignore` at a tie."""
        on = _longest(code, (*(self.select or ()), *self.extend_select))
        off = _longest(code, self.ignore)
        if on < 0 and off < 0:
            return before if self.select is None else False
        return on > off


def _longest(code: str, selectors: tuple[str, ...]) -> int:
    """The length of the longest selector that matches, -1 for none; "ALL" is the shortest."""
    lengths = (
        0 if selector == "ALL" else len(selector)
        for selector in selectors
        if selector == "ALL" or code.startswith(selector)
    )
    return max(lengths, default=-1)


class Settings(NamedTuple):
    """Everything that decides what is said of a file. `root` is the folder that patterns are relative to."""

    root: str = ""
    selections: tuple[Selection, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] | None = None  # None: DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    force_exclude: bool = False
    level: Severity = Severity.WARNING
    target_torch: tuple[int, int] | None = None
    sieve: bool = True  # False: read every file in full; the findings are the same
    project: bool = False  # ask the other files of the project where a file cannot know of itself

    def is_enabled(self, code: str, default: bool) -> bool:
        """Whether a rule runs, before per-file-ignores."""
        for selection in self.selections:
            default = selection.decide(code, default)
        return default

    def is_named(self, code: str) -> bool:
        """True when somebody asked for the rule by its full code: then its info findings are shown as well."""
        return any(code in (*(selection.select or ()), *selection.extend_select) for selection in self.selections)

    def ignored_in(self, path: str) -> tuple[str, ...]:
        """The codes and prefixes that per-file-ignores turns off for a file."""
        return tuple(
            code for pattern, codes in self.per_file_ignores if matches((pattern,), self.root, path) for code in codes
        )

    def rules(self, path: str) -> tuple[type[Rule], ...]:
        """The rules to run on a file, sorted by code. (Imports all rules.)"""
        return _enabled(self, self.ignored_in(path))

    def shows(self, code: str, severity: Severity) -> bool:
        """Whether a finding passes the level."""
        return severity >= self.level or (
            severity == Severity.INFO and self.level == Severity.WARNING and self.is_named(code)
        )


@cache
def _enabled(settings: Settings, ignored: tuple[str, ...]) -> tuple[type[Rule], ...]:
    from torchdevlint.rules.registry import all_rules

    return tuple(
        rule
        for rule in all_rules()
        if settings.is_enabled(rule.code, rule.default) and _longest(rule.code, ignored) < 0
    )


def matches(patterns: tuple[str, ...], root: str, path: str) -> bool:
    """Whether a path matches one of the patterns, which are those of a .gitignore in `root`."""
    relative = os.path.relpath(os.path.abspath(path), root or os.getcwd())
    if relative.startswith(os.pardir + os.sep):
        return False
    return bool(_pattern_set(patterns).match_file(relative))


@cache
def _pattern_set(patterns: tuple[str, ...]) -> Any:
    import pathspec

    return pathspec.GitIgnoreSpec.from_lines(patterns)


# ---------------------------------------------------------------------------------------------------- the table's keys


def _codes(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError('a list of codes is wanted, as in ["TDL101", "TDL5"]')
    return check_codes(value)


def _patterns(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError('a list of patterns is wanted, as in ["vendored/", "*_pb2.py"]')
    return tuple(value)


def _per_file(value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ValueError('a table of patterns and codes is wanted, as in { "tests/*" = ["TDL801"] }')
    return tuple((pattern, _codes(codes)) for pattern, codes in value.items())


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false is wanted")
    return value


def parse_level(value: Any) -> Severity:
    """The severity called "info", "warning" or "error"; raises `ValueError`."""
    try:
        return Severity.from_label(value)
    except (KeyError, AttributeError):
        raise ValueError(f'"info", "warning" or "error" is wanted, not {value!r}') from None


def _torch_version(value: Any) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)\.(\d+)(?:\.\d+)*", value) if isinstance(value, str) else None
    if found is None:
        raise ValueError('a version is wanted, as in "2.4"')
    return int(found[1]), int(found[2])


_KEYS: dict[str, Callable[[Any], Any]] = {
    "select": _codes,
    "extend-select": _codes,
    "ignore": _codes,
    "extend-ignore": _codes,
    "per-file-ignores": _per_file,
    "extend-per-file-ignores": _per_file,
    "exclude": _patterns,
    "extend-exclude": _patterns,
    "force-exclude": _flag,
    "respect-gitignore": _flag,
    "level": parse_level,
    "target-torch": _torch_version,
}


def check_codes(codes: list[str]) -> tuple[str, ...]:
    """The codes and prefixes in upper case, names as codes; raises `ValueError` for one that no rule has, naming the nearest known one."""
    from torchdevlint.rules.registry import all_rules

    by_name = {rule.name: rule.code for rule in all_rules()}
    result = []
    for code in codes:
        wanted = by_name.get(code.strip().lower(), code.strip().upper())
        if wanted != "ALL" and not (wanted and any(known.startswith(wanted) for known in by_name.values())):
            raise ValueError(unknown_code(code))
        result.append(wanted)
    return tuple(result)


def unknown_code(code: str) -> str:
    """The sentence for a code that no rule has, with the nearest code or name."""
    from torchdevlint.rules.registry import all_rules

    wanted = code.strip().upper()
    if wanted.startswith("TD"):  # the code that agrees longest: TDL1010 means TDL101
        nearest = max(
            (rule.code for rule in all_rules()), key=lambda known: [a == b for a, b in zip(known, wanted, strict=False)]
        )
        return f"unknown rule code {code!r} (did you mean {nearest!r}?)"
    return f"unknown rule code {code!r}{_nearest(wanted.lower(), [rule.name for rule in all_rules()])}"


def _nearest(word: str, known: list[str]) -> str:
    import difflib

    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""


def from_table(table: Mapping[str, Any], root: str, where: str) -> Settings:
    """The settings of one `[tool.torchdevlint]` table; raises `SettingsError` naming `where` and the key."""
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in _KEYS:
            raise SettingsError(f"{where}: [tool.torchdevlint] has no key {key!r}{_nearest(key, list(_KEYS))}")
        try:
            values[key] = _KEYS[key](value)
        except ValueError as error:
            raise SettingsError(f"{where}: {key}: {error}") from None
    selection = Selection(
        values.get("select"),
        values.get("extend-select", ()),
        values.get("ignore", ()) + values.get("extend-ignore", ()),
    )
    plain = {"exclude", "extend-exclude", "force-exclude", "respect-gitignore", "level", "target-torch"} & values.keys()
    return Settings(
        root=root,
        selections=(selection,),
        per_file_ignores=values.get("per-file-ignores", ()) + values.get("extend-per-file-ignores", ()),
        **{key.replace("-", "_"): values[key] for key in plain},
    )


# ---------------------------------------------------------------------------------------------------- files


def load_toml(path: str) -> dict[str, Any]:
    """A TOML file; raises `SettingsError` naming it."""
    import sys

    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: not valid TOML: {error}") from None
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}") from None


def _is_there(path: str) -> bool:
    """Whether a settings file exists; raises `SettingsError` where one does that cannot be read, such as a link to nowhere or a pipe."""
    try:
        os.lstat(path)
    except OSError:
        return False
    try:
        is_regular = stat.S_ISREG(os.stat(path).st_mode)
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}") from None
    if not is_regular:
        raise SettingsError(f"{path}: it is no regular file")
    return True


def _mentions(path: str) -> bool:
    """Whether a pyproject.toml can concern us; spares the import of the TOML parser where it cannot."""
    try:
        with open(path, "rb") as file:
            return b"torch" in file.read()
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}") from None


def minimum_torch(pyproject: Mapping[str, Any]) -> tuple[int, int] | None:
    """The lowest torch that a project's own dependencies allow (PEP 621, Poetry), None where they do not say."""
    project = pyproject.get("project")
    stated: list[Any] = []
    if isinstance(project, dict):
        optional = project.get("optional-dependencies")
        stated += project.get("dependencies") or []
        stated += [item for group in optional.values() for item in group] if isinstance(optional, dict) else []
    bounds = [_lower_bound(item) for item in stated if isinstance(item, str)]
    poetry = pyproject.get("tool", {}).get("poetry", {}).get("dependencies", {})
    constraint = poetry.get("torch") if isinstance(poetry, dict) else None
    constraint = constraint.get("version") if isinstance(constraint, dict) else constraint
    if isinstance(constraint, str):
        bounds.append(_lower_bound("torch" + (constraint if constraint[:1] in "<>=!~^" else "==" + constraint)))
    return min((bound for bound in bounds if bound is not None), default=None)


def _lower_bound(requirement: str) -> tuple[int, int] | None:
    name = re.match(r"\s*torch\s*(?:\[[^\]]*\])?\s*\(?(?=[<>=!~^\s])([^;)]*)", requirement, re.IGNORECASE)
    bounds = re.findall(r"(?:>=|==|~=|\^|~|>)\s*(\d+)(?:\.(\d+))?", name[1]) if name else []
    return max(((int(major), int(minor or 0)) for major, minor in bounds), default=None)


_NOTHING = Selection()


class Resolver:
    """Finds the settings of each folder: the nearest pyproject.toml with our table, the command line over it.

    `config` names one pyproject.toml for all files; `isolated` reads none. `overrides` are the command line's values by field name.
    """

    def __init__(
        self,
        command_line: Selection = _NOTHING,
        overrides: Mapping[str, Any] | None = None,
        config: str | None = None,
        isolated: bool = False,
    ) -> None:
        self.command_line = command_line
        self.overrides = dict(overrides or {})
        self.config = config
        self.isolated = isolated
        self._found: dict[str, Settings] = {}

    def for_file(self, path: str) -> Settings:
        """The settings for a file; raises `SettingsError`."""
        return self.for_folder(os.path.dirname(os.path.abspath(path)))

    def for_folder(self, folder: str) -> Settings:
        """The settings for the files of an absolute folder; raises `SettingsError`."""
        settings = self._found.get(folder)
        if settings is None:
            settings = self._found[folder] = self._resolve(folder)
        return settings

    def _resolve(self, folder: str) -> Settings:
        if self.isolated:
            return self._over(Settings(root=os.getcwd()))
        if self.config is not None:
            return self._over(
                _read(os.path.abspath(self.config), os.getcwd(), wanted=True) or Settings(root=os.getcwd())
            )
        path = os.path.join(folder, PYPROJECT)
        parent = os.path.dirname(folder)
        here = _read(path, folder) if _is_there(path) and _mentions(path) else None
        if here is not None and here.selections:
            return self._over(here)
        above = self.for_folder(parent) if parent != folder else self._over(Settings(root=os.getcwd()))
        if here is None or above.target_torch is not None:
            return above
        return above._replace(target_torch=here.target_torch)

    def _over(self, settings: Settings) -> Settings:
        extended = settings.extend_exclude + self.overrides.get("extend_exclude", ())
        selections = (*settings.selections, self.command_line)
        return settings._replace(
            **{"project": True, **self.overrides, "extend_exclude": extended, "selections": selections}
        )


def _read(path: str, root: str, *, wanted: bool = False) -> Settings | None:
    """The settings of a pyproject.toml. Without our table: no selections, and None unless it tells the lowest torch.

    `wanted`: the user named the file, so a table at the top of a TOML file of any other name is ours as well.
    """
    document = load_toml(path)
    tool = document.get("tool")
    table = tool.get("torchdevlint") if isinstance(tool, dict) else None
    if table is None and wanted and os.path.basename(path) != PYPROJECT:
        table = document
    minimum = minimum_torch(document)
    if table is None:
        return None if minimum is None and not wanted else Settings(root=root, target_torch=minimum)
    if not isinstance(table, dict):
        raise SettingsError(f"{path}: tool.torchdevlint is not a table")
    settings = from_table(table, os.path.dirname(path), path)
    return settings if "target-torch" in table else settings._replace(target_torch=minimum)
