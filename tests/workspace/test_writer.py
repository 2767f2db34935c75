"""Writing a file whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from torchdevlint.workspace.writer import write_atomically


def test_the_mode_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    path.chmod(0o751)
    write_atomically(str(path), b"new\r\n")
    assert path.read_bytes() == b"new\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    assert [path.name for path in tmp_path.iterdir()] == ["a.py"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.py").write_bytes(b"old")
    (tmp_path / "link.py").symlink_to(tmp_path / "real" / "a.py")
    write_atomically(str(tmp_path / "link.py"), b"new")
    assert (tmp_path / "link.py").is_symlink()
    assert (tmp_path / "real" / "a.py").read_bytes() == b"new"


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_nothing_is_lost_when_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")

    def fail(*arguments: object) -> None:
        raise error

    monkeypatch.setattr(*((os, "fsync") if step == "fsync" else (Path, "replace")), fail)
    with pytest.raises(type(error)):
        write_atomically(str(path), b"new")
    assert path.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.py"]


def test_a_read_only_file_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *arguments: False)
    with pytest.raises(PermissionError, match="read-only"):
        write_atomically(str(path), b"new")
    assert path.read_bytes() == b"old"
