"""`[tool.torchdevlint]` of pyproject.toml, the command line over it, and what follows for one file: one frozen `Settings`."""

# Paths are strings and values named tuples here: pathlib and dataclasses would take longer to import than a run without torch takes.
# ruff: noqa: PTH100, PTH109, PTH116, PTH118, PTH119, PTH120

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from torchdevlint.severity import Severity
from torchdevlint.source import disk
from torchdevlint.source.patterns import PatternError, Patterns
from torchdevlint.source.reading import LARGEST_SETTINGS, read_bytes

if TYPE_CHECKING:
    from torchdevlint.rules.rule import Rule
    from torchdevlint.stubs.loader import Stubs
    from torchdevlint.stubs.user import StubFile

PYPROJECT = "pyproject.toml"
DOES_NOT_PARSE = "TDL000"
UNUSED_SUPPRESSION = "TDL001"

_LONGEST_REQUIREMENT = 1000  # characters; what is longer tells no version


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
    stubs: tuple[StubFile, ...] = ()
    environment: str = ""  # the folder of the packages that are installed where the code runs
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

    def device_stubs(self) -> Stubs:
        """What is known of foreign code. (Imports what reads stubs.)"""
        if not self.stubs:
            from torchdevlint.stubs import loader

            return loader.shipped()
        from torchdevlint.stubs import user

        return user.of(self.stubs)

    def libraries(self) -> tuple[bytes, ...]:
        """The names of the libraries that the user's stubs tell of: a file that holds one may have findings."""
        if not self.stubs:
            return ()
        from torchdevlint.stubs import user

        return user.libraries(self.stubs)

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


def matches(patterns: tuple[str, ...], root: str, path: str, *, is_folder: bool = False) -> bool:
    """Whether a path, or a folder on the way to it, matches one of the patterns, which are those of a .gitignore in `root`."""
    relative = os.path.relpath(os.path.abspath(path), root or os.getcwd())
    if relative in (os.curdir, os.pardir) or relative.startswith(os.pardir + os.sep):
        return False
    return _pattern_set(patterns).covers(relative.replace(os.sep, "/"), is_folder)


@cache
def _pattern_set(patterns: tuple[str, ...]) -> Patterns:
    return Patterns(patterns)


# ---------------------------------------------------------------------------------------------------- the table's keys


def _codes(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError('a list of codes is wanted, as in ["TDL101", "TDL5"]')
    return check_codes(value)


def _patterns(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError('a list of patterns is wanted, as in ["vendored/", "*_pb2.py"]')
    return check_patterns(value)


def check_patterns(patterns: Sequence[str]) -> tuple[str, ...]:
    """The patterns; raises `ValueError` with a sentence for one that means nothing."""
    try:
        return Patterns(patterns, strict=True).written
    except PatternError as error:
        raise ValueError(str(error)) from None


def _per_file(value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ValueError('a table of patterns and codes is wanted, as in { "tests/*" = ["TDL801"] }')
    return tuple((check_patterns([pattern])[0], _codes(codes)) for pattern, codes in value.items())


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false is wanted")
    return value


def parse_level(value: Any) -> Severity:
    """The severity called "info", "warning" or "error"; raises `ValueError`."""
    try:
        return Severity.from_label(value)
    except (KeyError, AttributeError):
        given = f", not {value!r}" if isinstance(value, str) else ""
        raise ValueError(f'"info", "warning" or "error" is wanted{given}') from None


def _torch_version(value: Any) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,6})\.(\d{1,6})(?:\.\d+)*", value) if isinstance(value, str) else None
    if found is None:
        raise ValueError('a version is wanted, as in "2.4"')
    return int(found[1]), int(found[2])


def _paths(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item and "\0" not in item for item in value):
        raise ValueError('a list of files and folders is wanted, as in ["stubs/"]')
    return tuple(value)


def _path(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("a path is wanted")
    return value


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
    "stubs": _paths,
    "python": _path,
    "cache": _flag,
    "cache-dir": _path,
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
    stubs = read_stubs([os.path.join(root, path) for path in values.get("stubs", ())], f"{where}: stubs")
    environment = (
        find_environment(os.path.join(root, values["python"]), f"{where}: python") if "python" in values else ""
    )
    plain = {"exclude", "extend-exclude", "force-exclude", "respect-gitignore", "level", "target-torch"} & values.keys()
    return Settings(
        root=root,
        selections=(selection,),
        per_file_ignores=values.get("per-file-ignores", ()) + values.get("extend-per-file-ignores", ()),
        stubs=stubs,
        environment=environment,
        **{key.replace("-", "_"): values[key] for key in plain},
    )


def find_environment(path: str, where: str) -> str:
    """The folder of the packages of an environment or an interpreter; raises `SettingsError` naming `where`."""
    from torchdevlint.program import environment

    try:
        return environment.packages_of(path)
    except environment.EnvironmentNotFound as error:
        raise SettingsError(f"{where}: {error}") from None


def _usual_environment(root: str) -> str:
    from torchdevlint.program import environment

    return environment.usual(root)


def read_stubs(paths: Sequence[str], where: str) -> tuple[StubFile, ...]:
    """The stub files of these paths, each line of which has been checked; raises `SettingsError` naming `where` for a path that cannot be read."""
    if not paths:
        return ()
    from torchdevlint.stubs import user

    try:
        found = user.gather(paths)
    except user.StubError as error:
        raise SettingsError(f"{where}: {error}") from None
    try:
        user.of(found)
    except user.StubError as error:
        raise SettingsError(str(error)) from None
    return found


# ---------------------------------------------------------------------------------------------------- files


def load_toml(path: str) -> dict[str, Any]:
    """A TOML file; raises `SettingsError` naming it."""
    import sys

    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        text = read_bytes(path, LARGEST_SETTINGS).decode("utf-8")
        if not _nests_beyond(text, _DEEPEST_TOML):
            return tomllib.loads(text)
    except RecursionError:
        pass
    except ValueError as error:
        raise SettingsError(f"{path}: not valid TOML: {error}") from None
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}") from None
    raise SettingsError(f"{path}: not valid TOML: it nests too deeply")


# More levels of brackets, or parts of a dotted key, than anybody writes; the parser recurses, on 3.10 in native code that does not look for the end of its stack.
_DEEPEST_TOML = 100
_TOML_TOKENS = re.compile(
    r'''"""(?:[^"\\]|\\.|"(?!""))*(?:"""|\Z)|"(?:[^"\\\n]|\\.)*"?'''
    r"""|'{3}(?:[^']|'(?!''))*(?:'{3}|\Z)|'[^'\n]*'?|\#[^\n]*|[\[{\]}]""",
    re.DOTALL,
)


def _nests_beyond(text: str, most: int) -> bool:
    """Whether the brackets of a TOML text nest more than `most` levels deep."""
    if text.count("[") + text.count("{") <= most:
        return False
    depth = 0
    for found in _TOML_TOKENS.finditer(text):
        token = found.group()
        if token in "[{":
            depth += 1
            if depth > most:
                return True
        elif token in "]}":
            depth -= 1
    return False


def _is_there(path: str) -> bool:
    """Whether a settings file exists; raises `SettingsError` where one does that cannot be read, such as a link to nowhere or a pipe."""
    if not disk.lexists(path):
        return False
    if not disk.is_regular(path):
        try:
            os.stat(path)
        except OSError as error:
            raise SettingsError(f"{path}: {error.strerror}") from None
        raise SettingsError(f"{path}: it is no regular file")
    return True


def _mentions(path: str) -> bool:
    """Whether a pyproject.toml can concern us; spares the import of the TOML parser where it cannot."""
    try:
        return b"torch" in read_bytes(path, LARGEST_SETTINGS)
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}") from None


def minimum_torch(pyproject: Mapping[str, Any]) -> tuple[int, int] | None:
    """The lowest torch that a project's own dependencies allow (PEP 621, Poetry), None where they do not say."""
    project = _table(pyproject, "project")
    groups = (project.get("dependencies"), *_table(project, "optional-dependencies").values())
    stated = [item for group in groups if isinstance(group, list) for item in group if isinstance(item, str)]
    bounds = [_lower_bound(item) for item in stated]
    poetry = _table(_table(_table(pyproject, "tool"), "poetry"), "dependencies")
    constraint = poetry.get("torch")
    constraint = constraint.get("version") if isinstance(constraint, dict) else constraint
    if isinstance(constraint, str):
        bounds.append(_lower_bound("torch" + (constraint if constraint[:1] in "<>=!~^" else "==" + constraint)))
    return min((bound for bound in bounds if bound is not None), default=None)


def _table(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """A table in a table; an empty one where there is none, or something else."""
    found = table.get(key)
    return found if isinstance(found, dict) else {}


def _lower_bound(requirement: str) -> tuple[int, int] | None:
    if len(requirement) > _LONGEST_REQUIREMENT:
        return None
    name = re.match(r"\s*torch\s*(?:\[[^\]]*\])?\s*\(?(?=[<>=!~^\s])([^;)]*)", requirement, re.IGNORECASE)
    bounds = re.findall(r"(?:>=|==|~=|\^|~|>)\s*(\d{1,6})(?!\d)(?:\.(\d{1,6})(?!\d))?", name[1]) if name else []
    return max(((int(major), int(minor or 0)) for major, minor in bounds), default=None)


_NOTHING = Selection()


def cache_folder(config: str | None, isolated: bool) -> str | None:
    """Where the settings of the current folder keep the cache: `cache-dir`, or a folder beside them; None where they want none.

    Nothing else of them is looked at: settings that cannot be used are told of by whoever uses them.
    """
    folder = os.getcwd()
    table: Mapping[str, Any] = {}
    if not isolated:
        found = _own_table(config) if config is not None else _nearest_table(folder)
        if found is not None:
            folder, table = found
    if table.get("cache") is False:
        return None
    given = table.get("cache-dir")
    return os.path.join(folder, given if isinstance(given, str) and given else disk.CACHE_FOLDER)


def _nearest_table(folder: str) -> tuple[str, Mapping[str, Any]] | None:
    while True:
        found = _own_table(os.path.join(folder, PYPROJECT))
        parent = os.path.dirname(folder)
        if found is not None or parent == folder:
            return found
        folder = parent


def _own_table(path: str) -> tuple[str, Mapping[str, Any]] | None:
    """Our table in a settings file, and the file's folder; None where it has none or cannot be read."""
    try:
        if b"torchdevlint" not in read_bytes(path, LARGEST_SETTINGS) and os.path.basename(path) == PYPROJECT:
            return None
        document = load_toml(path)
    except (OSError, SettingsError):
        return None
    table = _table(document, "tool").get("torchdevlint", None if os.path.basename(path) == PYPROJECT else document)
    return (os.path.dirname(os.path.abspath(path)), table) if isinstance(table, dict) else None


class Resolver:
    """Finds the settings of each folder: the nearest pyproject.toml with our table, the command line over it.

    `config` names one pyproject.toml for all files; `isolated` reads none. `overrides` are the command line's values by field name; as `stubs` and
    `python` the paths, which are read with the settings.
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
        self._stubs: tuple[StubFile, ...] | None = None

    def for_file(self, path: str) -> Settings:
        """The settings for a file; raises `SettingsError`."""
        return self.for_folder(os.path.dirname(os.path.abspath(path)))

    def for_folder(self, folder: str) -> Settings:
        """The settings for the files of an absolute folder; raises `SettingsError`."""
        waiting: list[tuple[str, Settings | None]] = []  # a list, so that folders may be deeper than calls
        at = folder
        while at not in self._found:
            here, is_last = self._own(at)
            if is_last:
                self._found[at] = self._over(here or Settings(root=os.getcwd()))
            else:
                waiting.append((at, here))
                at = os.path.dirname(at)
        settings = self._found[at]
        for at, here in reversed(waiting):
            if here is not None and settings.target_torch is None:
                settings = settings._replace(target_torch=here.target_torch)
            self._found[at] = settings
        return settings

    def _own(self, folder: str) -> tuple[Settings | None, bool]:
        """What is said for a folder itself, and whether the folders above are not asked."""
        if self.isolated:
            return None, True
        if self.config is not None:
            return _read(os.path.abspath(self.config), os.getcwd(), wanted=True), True
        path = os.path.join(folder, PYPROJECT)
        here = _read(path, folder) if _is_there(path) and _mentions(path) else None
        return here, (here is not None and bool(here.selections)) or os.path.dirname(folder) == folder

    def _over(self, settings: Settings) -> Settings:
        over: dict[str, Any] = {
            "project": True,
            **self.overrides,
            "extend_exclude": settings.extend_exclude + self.overrides.get("extend_exclude", ()),
            "selections": (*settings.selections, self.command_line),
        }
        if "stubs" in over:
            over["stubs"] = self.given_stubs()
        if over["project"]:
            over["environment"] = self.given_environment() or settings.environment or _usual_environment(settings.root)
        over.pop("python", None)
        return settings._replace(**over)

    def given_environment(self) -> str:
        """The packages of the environment that the command line names, "" for none; raises `SettingsError`."""
        path = self.overrides.get("python")
        return "" if path is None else find_environment(path, "--python")

    def given_stubs(self) -> tuple[StubFile, ...]:
        """The stubs of the command line, read once; raises `SettingsError`."""
        if self._stubs is None:
            self._stubs = read_stubs(self.overrides.get("stubs", ()), "--stubs")
        return self._stubs


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
