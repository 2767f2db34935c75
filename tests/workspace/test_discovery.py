"""From paths to files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from torchdevlint.settings import Resolver
from torchdevlint.workspace.discovery import Discovery


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("a.py", "b.pyi", "c.txt", "sub/d.py", "sub/deep/e.py", ".venv/f.py", "node_modules/g.py", "gen/h.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(*paths: str, resolver: Resolver | None = None) -> list[str]:
    discovery = Discovery(resolver or Resolver())
    names = [target.path for target in discovery.targets(paths)]
    assert not discovery.problems
    return names


def test_folders_and_their_default_excludes(tree: Path) -> None:
    assert found(".") == ["a.py", "b.pyi", "gen/h.py", "sub/d.py", "sub/deep/e.py"]
    assert found("sub") == ["sub/d.py", "sub/deep/e.py"]
    assert found(str(tree / "sub")) == [str(tree / "sub/d.py"), str(tree / "sub/deep/e.py")]


def test_each_file_once_under_all_its_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder and a link to it, a file and a link to it, relative and absolute: whichever is named first is what is reported."""
    (tmp_path / "folder" / "below").mkdir(parents=True)
    (tmp_path / "folder" / "below" / "a.py").write_text("")
    (tmp_path / "other").symlink_to(tmp_path / "folder", target_is_directory=True)
    (tmp_path / "b.py").symlink_to(tmp_path / "folder" / "below" / "a.py")
    monkeypatch.chdir(tmp_path)
    names = [
        "folder",
        "./folder",
        str(tmp_path / "folder"),
        "other",
        "folder/below/a.py",
        "other/below/a.py",
        "b.py",
        ".",
    ]
    for first in names:
        found = [target.path for target in Discovery(Resolver()).targets([first, *names])]
        assert len(found) == 1


def test_each_file_once(tree: Path) -> None:
    assert found("sub/d.py", "./sub/d.py", "sub", ".") == ["sub/d.py", "sub/deep/e.py", "a.py", "b.pyi", "gen/h.py"]


def test_named_files_are_checked_whatever_their_name(tree: Path) -> None:
    assert found("c.txt", ".venv/f.py") == ["c.txt", ".venv/f.py"]


def test_excludes(tree: Path) -> None:
    (tree / "pyproject.toml").write_text(
        '[tool.torchdevlint]\nextend-exclude = ["gen/", "sub/*/e.py"]\n', encoding="utf-8"
    )
    assert found(".") == ["a.py", "b.pyi", "sub/d.py"]
    assert found("gen/h.py") == ["gen/h.py"]
    assert found("gen/h.py", "sub", ".venv/f.py", "gen", resolver=Resolver(overrides={"force_exclude": True})) == [
        "sub/d.py"
    ]


def test_exclude_replaces_the_defaults(tree: Path) -> None:
    (tree / "pyproject.toml").write_text('[tool.torchdevlint]\nexclude = ["sub"]\n', encoding="utf-8")
    assert found(".") == ["a.py", "b.pyi", ".venv/f.py", "gen/h.py", "node_modules/g.py"]


def test_gitignore(tree: Path) -> None:
    (tree / ".gitignore").write_text("gen/\n*.pyi\n/d.py\n", encoding="utf-8")
    (tree / "sub" / ".gitignore").write_text("deep/*\n!deep/e.py\n", encoding="utf-8")
    assert found(".") == ["a.py", "sub/d.py", "sub/deep/e.py"]
    (tree / "pyproject.toml").write_text("[tool.torchdevlint]\nrespect-gitignore = false\n", encoding="utf-8")
    assert "gen/h.py" in found(".")


def test_gitignore_above_the_folder_within_the_repository(tree: Path) -> None:
    (tree / ".gitignore").write_text("e.py\n", encoding="utf-8")
    assert found("sub") == ["sub/d.py", "sub/deep/e.py"]
    (tree / ".git").mkdir()
    assert found("sub") == ["sub/d.py"]


def test_links(tree: Path) -> None:
    (tree / "sub" / "loop").symlink_to(tree, target_is_directory=True)
    (tree / "sub" / "self").symlink_to("self")
    (tree / "sub" / "link.py").symlink_to(tree / "sub" / "d.py")
    (tree / "sub" / "dangling.py").symlink_to(tree / "nowhere.py")
    assert found("sub") == ["sub/d.py", "sub/deep/e.py"]


def test_what_cannot_be_used_is_told_and_the_rest_is_checked(tree: Path) -> None:
    (tree / "sub" / "deep" / "pyproject.toml").write_text("[tool.torchdevlint]\nx = 1\n", encoding="utf-8")
    discovery = Discovery(Resolver())
    names = [target.path for target in discovery.targets(["missing", "a.py", "sub"])]
    assert names == ["a.py", "sub/d.py"]
    missing, broken = discovery.problems
    assert missing == "missing: no such file or directory"
    assert "has no key 'x'" in broken


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_folder(tree: Path) -> None:
    (tree / "sub").chmod(0)
    discovery = Discovery(Resolver())
    try:
        assert [target.path for target in discovery.targets(["."])] == ["a.py", "b.pyi", "gen/h.py"]
    finally:
        (tree / "sub").chmod(0o755)
    assert discovery.problems == ["./sub: Permission denied"]


def test_a_folder_that_cannot_be_listed(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scandir = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("sub"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    discovery = Discovery(Resolver())
    assert [target.path for target in discovery.targets(["."])] == ["a.py", "b.pyi", "gen/h.py"]
    assert discovery.problems == ["sub: Permission denied"]
