"""[tool.torchdevlint], the command line over it, and what follows for a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from torchdevlint.findings import Severity
from torchdevlint.settings import Resolver, Selection, Settings, SettingsError, check_codes, from_table, minimum_torch


def write(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("selection", "code", "default", "on"),
    [
        (Selection(), "TDL101", True, True),
        (Selection(), "TDL101", False, False),
        (Selection(select=("TDL1",)), "TDL101", False, True),
        (Selection(select=("TDL1",)), "TDL501", True, False),
        (Selection(select=("ALL",)), "TDL501", False, True),
        (Selection(select=("TDL1",), ignore=("TDL101",)), "TDL101", True, False),
        (Selection(select=("TDL101",), ignore=("TDL1",)), "TDL101", True, True),
        (Selection(select=("TDL1",), ignore=("TDL1",)), "TDL101", True, False),
        (Selection(extend_select=("TDL5",)), "TDL501", False, True),
        (Selection(extend_select=("TDL5",)), "TDL101", True, True),
        (Selection(ignore=("ALL",), extend_select=("TDL5",)), "TDL501", True, True),
        (Selection(ignore=("ALL",), extend_select=("TDL5",)), "TDL101", True, False),
        (Selection(select=()), "TDL101", True, False),
    ],
)
def test_the_longest_prefix_wins(selection: Selection, code: str, default: bool, on: bool) -> None:
    assert Settings(selections=(selection,)).is_enabled(code, default) is on


def test_the_command_line_stands_over_the_table() -> None:
    table = Selection(select=("TDL501",), ignore=("TDL101",))
    assert Settings(selections=(table, Selection(select=("TDL101",)))).is_enabled("TDL101", True)
    assert not Settings(selections=(table, Selection(select=("TDL101",)))).is_enabled("TDL501", True)
    assert not Settings(selections=(table, Selection())).is_enabled("TDL101", True)
    assert not Settings(selections=(table, Selection(ignore=("TDL5",)))).is_enabled("TDL501", True)


def test_notes_are_shown_when_the_full_code_is_named() -> None:
    by_prefix = Settings(selections=(Selection(extend_select=("TDL8",)),))
    by_code = Settings(selections=(Selection(extend_select=("TDL803",)),))
    assert not by_prefix.shows("TDL803", Severity.INFO)
    assert by_code.shows("TDL803", Severity.INFO)
    assert not by_code.shows("TDL101", Severity.INFO)
    assert Settings(level=Severity.INFO).shows("TDL101", Severity.INFO)
    assert not Settings(level=Severity.ERROR).shows("TDL101", Severity.WARNING)


def test_every_key() -> None:
    table = {
        "select": ["tdl1"],
        "extend-select": ["TDL501"],
        "ignore": ["TDL102"],
        "extend-ignore": ["load-invalid-map-location"],
        "per-file-ignores": {"tests/*": ["TDL101"]},
        "extend-per-file-ignores": {"*.pyi": ["ALL"]},
        "exclude": ["old/"],
        "extend-exclude": ["vendored/"],
        "force-exclude": True,
        "respect-gitignore": False,
        "level": "error",
        "target-torch": "2.4.1",
    }
    assert from_table(table, "/p", "x") == Settings(
        root="/p",
        selections=(Selection(("TDL1",), ("TDL501",), ("TDL102", "TDL103")),),
        per_file_ignores=(("tests/*", ("TDL101",)), ("*.pyi", ("ALL",))),
        exclude=("old/",),
        extend_exclude=("vendored/",),
        respect_gitignore=False,
        force_exclude=True,
        level=Severity.ERROR,
        target_torch=(2, 4),
    )


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"selct": ["TDL1"]}, "no key 'selct' (did you mean 'select'?)"),
        ({"select": ["TDL1010"]}, "select: unknown rule code 'TDL1010' (did you mean 'TDL101'?)"),
        ({"ignore": ["load-without-map-locations"]}, "did you mean 'load-without-map-location'?"),
        ({"select": "TDL1"}, "select: a list of codes is wanted"),
        ({"select": [""]}, "unknown rule code ''"),
        ({"per-file-ignores": ["TDL1"]}, "per-file-ignores: a table of patterns"),
        ({"exclude": "x"}, "exclude: a list of patterns"),
        ({"force-exclude": 1}, "force-exclude: true or false"),
        ({"level": "loud"}, 'level: "info", "warning" or "error" is wanted, not \'loud\''),
        ({"level": 3}, "level: "),
        ({"target-torch": "new"}, "target-torch: a version"),
        ({"target-torch": 2.4}, "target-torch: a version"),
    ],
)
def test_wrong_tables_are_told_where_and_how(table: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        from_table(table, "/p", "/p/pyproject.toml")
    assert str(caught.value).startswith("/p/pyproject.toml: ")
    assert words in str(caught.value)


def test_codes() -> None:
    assert check_codes(["tdl101", "TDL5", "all", "load-without-map-location"]) == ("TDL101", "TDL5", "ALL", "TDL101")


def test_the_nearest_table_counts(tmp_path: Path) -> None:
    write(tmp_path, '[tool.torchdevlint]\nselect = ["TDL1"]\n')
    write(tmp_path / "a", '[project]\nname = "a"\n')
    write(tmp_path / "a" / "b", '[tool.torchdevlint]\nselect = ["TDL5"]\n')
    resolver = Resolver()
    assert resolver.for_folder(str(tmp_path / "a")).selections[0].select == ("TDL1",)
    assert resolver.for_folder(str(tmp_path / "a")).root == str(tmp_path)
    assert resolver.for_file(str(tmp_path / "a" / "b" / "c" / "x.py")).selections[0].select == ("TDL5",)
    assert len(Resolver(isolated=True).for_folder(str(tmp_path)).selections) == 1


def test_a_named_file(tmp_path: Path) -> None:
    write(tmp_path / "here", '[tool.torchdevlint]\nlevel = "error"\n')
    (tmp_path / "other.toml").write_text('level = "info"\n', encoding="utf-8")
    assert Resolver(config=str(tmp_path / "other.toml")).for_folder(str(tmp_path / "here")).level is Severity.INFO
    with pytest.raises(SettingsError, match="No such file"):
        Resolver(config=str(tmp_path / "none.toml")).for_folder(str(tmp_path))


@pytest.mark.parametrize("text", ["[tool.torchdevlint", "tool.torchdevlint = 1", "[tool.torchdevlint]\nx = 1"])
def test_a_broken_table_names_its_file(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)
    with pytest.raises(SettingsError, match=r"pyproject\.toml: "):
        Resolver().for_folder(str(tmp_path))


def test_a_broken_file_of_other_tools_is_not_ours(tmp_path: Path) -> None:
    write(tmp_path, "[tool.other")
    assert Resolver().for_folder(str(tmp_path)).target_torch is None


def test_per_file_ignores_are_relative_to_the_table(tmp_path: Path) -> None:
    write(tmp_path, '[tool.torchdevlint.per-file-ignores]\n"tests/" = ["TDL1"]\n"*_gen.py" = ["TDL501"]\n')
    settings = Resolver().for_folder(str(tmp_path))
    assert settings.ignored_in(str(tmp_path / "tests" / "deep" / "a.py")) == ("TDL1",)
    assert settings.ignored_in(str(tmp_path / "src" / "a_gen.py")) == ("TDL501",)
    assert settings.ignored_in(str(tmp_path / "src" / "a.py")) == ()
    assert settings.ignored_in("/elsewhere/tests/a.py") == ()
    codes = {rule.code for rule in settings.rules(str(tmp_path / "tests" / "a.py"))}
    assert "TDL101" not in codes
    assert "TDL501" in codes


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('[project]\ndependencies = ["numpy", "torch>=2.1,<3"]', (2, 1)),
        ('[project]\ndependencies = ["torch==2.3.1+cpu"]', (2, 3)),
        ("[project]\ndependencies = [\"torch ~= 1.13 ; python_version < '3.12'\"]", (1, 13)),
        ('[project]\ndependencies = ["torch[opt] (>=2)"]', (2, 0)),
        ('[project]\ndependencies = ["torch"]', None),
        ('[project]\ndependencies = ["torch<3", "torchvision>=0.15", "torch-geometric>=2.8"]', None),
        ('[project.optional-dependencies]\ntrain = ["torch>=2.2"]', (2, 2)),
        ('[tool.poetry.dependencies]\ntorch = "^2.0"', (2, 0)),
        ('[tool.poetry.dependencies]\ntorch = {version = ">=1.9", source = "x"}', (1, 9)),
        ('[tool.poetry.dependencies]\ntorch = "2.5.0"', (2, 5)),
    ],
)
def test_the_lowest_torch_comes_from_the_dependencies(
    tmp_path: Path, text: str, version: tuple[int, int] | None
) -> None:
    write(tmp_path, text)
    assert Resolver().for_folder(str(tmp_path)).target_torch == version


def test_the_table_stands_over_the_dependencies(tmp_path: Path) -> None:
    write(tmp_path, '[project]\ndependencies = ["torch>=2.1"]\n[tool.torchdevlint]\ntarget-torch = "2.6"\n')
    assert Resolver().for_folder(str(tmp_path)).target_torch == (2, 6)
    assert minimum_torch({"project": {"dependencies": None}}) is None


@pytest.mark.parametrize("kind", ["a link to itself", "a link to nowhere", "a pipe", "a folder", "closed"])
def test_a_settings_file_that_cannot_be_read_is_an_error(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "pyproject.toml"
    if kind == "a link to itself":
        path.symlink_to("pyproject.toml")
    elif kind == "a link to nowhere":
        path.symlink_to("nowhere")
    elif kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a folder":
        path.mkdir()
    else:
        path.write_text("[tool.torchdevlint]\n", encoding="utf-8")
        path.chmod(0)
        if os.access(path, os.R_OK):
            pytest.skip("root reads everything")
    with pytest.raises(SettingsError, match=r"pyproject.toml: "):
        Resolver().for_folder(str(tmp_path))
