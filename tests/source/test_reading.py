"""Only regular files are opened, and no more is read than is worth it."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from torchdevlint.source.disk import is_regular
from torchdevlint.source.reading import pieces_of, read_bytes

needs_fifo = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name here")


def test_a_file_and_a_link_to_one(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x\r\n" * 700_000)
    (tmp_path / "b.py").symlink_to("a.py")
    assert read_bytes(str(tmp_path / "b.py")) == b"x\r\n" * 700_000
    assert is_regular(str(tmp_path / "b.py"))


@needs_fifo
def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "link").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        folder = os.open(tmp_path, os.O_RDONLY)  # the name of a socket is short, that of a test's folder is not
        server.bind(f"/proc/self/fd/{folder}/socket" if Path("/proc/self/fd").exists() else str(tmp_path / "socket"))
        os.close(folder)
        for name in ("pipe", "zero", "link", "socket"):
            assert not is_regular(str(tmp_path / name))
            with pytest.raises(OSError, match="no regular file"):
                read_bytes(str(tmp_path / name))


def test_a_folder_and_nothing(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        read_bytes(str(tmp_path))
    with pytest.raises(FileNotFoundError):
        read_bytes(str(tmp_path / "none"))
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="loop"):
        read_bytes(str(tmp_path / "loop"))
    assert not is_regular(str(tmp_path / "loop"))


def test_the_size_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 3000)
    assert len(read_bytes(str(tmp_path / "a"), 3000)) == 3000
    with pytest.raises(OSError, match="larger than 2 kB"):
        read_bytes(str(tmp_path / "a"), 2999)


def test_pieces_overlap(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b" " * ((1 << 20) - 2) + b"torch" + b" " * 1000)
    assert any(b"torch" in piece for piece in pieces_of(str(tmp_path / "a")))
