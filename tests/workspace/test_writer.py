"""Writing a file whole or not at all, and never over an edit of somebody else."""

from __future__ import annotations

import errno
import os
import signal
import stat
from pathlib import Path

import pytest

from torchdevlint.workspace import signals, writer
from torchdevlint.workspace.writer import ChangedMeanwhile, NotWritten, put_atomically, write_atomically


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_mode_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    path.chmod(0o6751)
    mode = path.stat().st_mode
    write_atomically(str(path), b"new\r\n")
    assert path.read_bytes() == b"new\r\n"
    assert path.stat().st_mode == mode
    assert names(tmp_path) == ["a.py"]


def test_extended_attributes_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    try:
        os.setxattr(path, "user.origin", b"a tutorial")
    except (AttributeError, OSError):
        pytest.skip("no extended attributes here")
    write_atomically(str(path), b"new")
    assert os.getxattr(path, "user.origin") == b"a tutorial"


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="needs root")
def test_the_setuid_bit_and_the_owner_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    os.chown(path, 12345, 54321)
    path.chmod(0o6755)
    write_atomically(str(path), b"new")
    status = path.stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (12345, 54321, 0o6755)


def test_hard_links_are_not_split(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"a longer old text")
    (tmp_path / "b.py").hardlink_to(path)
    write_atomically(str(path), b"new", expected=b"a longer old text")
    assert path.samefile(tmp_path / "b.py")
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["a.py", "b.py"]


def test_an_owner_who_cannot_be_given_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    before = path.stat().st_ino
    monkeypatch.setattr(writer, "_made_alike", lambda *arguments: False)
    write_atomically(str(path), b"new", expected=b"old")
    assert (path.read_bytes(), path.stat().st_ino) == (b"new", before)
    assert names(tmp_path) == ["a.py"]


def test_what_fails_in_place_is_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    (tmp_path / "b.py").hardlink_to(path)
    overwrite = writer._overwrite
    calls = []

    def fail_once(descriptor: int, content: bytes) -> None:
        overwrite(descriptor, content)
        calls.append(content)
        if len(calls) == 1:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(writer, "_overwrite", fail_once)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(str(path), b"a longer new text")
    assert calls == [b"a longer new text", b"old"]
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.py", "b.py"]


def test_a_name_of_255_bytes(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 252 + ".py")
    path.write_bytes(b"old")
    write_atomically(str(path), b"new")
    assert path.read_bytes() == b"new"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.py").write_bytes(b"old")
    (tmp_path / "link.py").symlink_to(tmp_path / "real" / "a.py")
    write_atomically(str(tmp_path / "link.py"), b"new", within={tmp_path})
    assert (tmp_path / "link.py").is_symlink()
    assert (tmp_path / "real" / "a.py").read_bytes() == b"new"


def test_a_link_that_leads_out_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    (tmp_path / "a.py").write_bytes(b"old")
    (tmp_path / "given" / "link.py").symlink_to(tmp_path / "a.py")
    with pytest.raises(NotWritten, match="leads out"):
        write_atomically(str(tmp_path / "given" / "link.py"), b"new", within={tmp_path / "given"})
    assert (tmp_path / "a.py").read_bytes() == b"old"


def test_a_link_to_itself(tmp_path: Path) -> None:
    (tmp_path / "a.py").symlink_to("a.py")
    with pytest.raises(OSError, match="symbolic link"):
        write_atomically(str(tmp_path / "a.py"), b"new")


# ---------------------------------------------------------------------------------------------------- meanwhile


@pytest.mark.parametrize("others", [b"an edit", b""])
@pytest.mark.parametrize("links", [1, 2])
@pytest.mark.parametrize("when", ["before", "while it is written"])
def test_an_edit_made_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: bytes, links: int, when: str
) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    if links == 2:
        (tmp_path / "b.py").hardlink_to(path)
    fsync = os.fsync

    def edit_and_sync(descriptor: int) -> None:
        path.write_bytes(others)
        fsync(descriptor)

    if when == "before":
        path.write_bytes(others)
    else:
        monkeypatch.setattr(writer.os, "fsync", edit_and_sync)
    with pytest.raises(ChangedMeanwhile):
        write_atomically(str(path), b"new", expected=b"old")
    assert path.read_bytes() == others
    assert names(tmp_path) == ["a.py", "b.py"][:links]


def test_what_another_run_has_written_already_is_no_change(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"new")
    write_atomically(str(path), b"new", expected=b"old")
    assert path.read_bytes() == b"new"


def test_a_file_that_was_removed_stays_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    fsync = os.fsync

    def remove_and_sync(descriptor: int) -> None:
        path.unlink()
        fsync(descriptor)

    monkeypatch.setattr(writer.os, "fsync", remove_and_sync)
    with pytest.raises(FileNotFoundError):
        write_atomically(str(path), b"new", expected=b"old")
    assert names(tmp_path) == []


def test_a_new_file_replaces_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report"
    put_atomically(str(path), b"new", new=True)
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~writer._umask()
    with pytest.raises(ChangedMeanwhile):
        put_atomically(str(path), b"newer", new=True)
    assert path.read_bytes() == b"new"
    put_atomically(str(path), b"newer")
    assert path.read_bytes() == b"newer"
    assert names(tmp_path) == ["report"]


# ---------------------------------------------------------------------------------------------------- failing


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
    assert names(tmp_path) == ["a.py"]


@pytest.mark.parametrize("what", ["a.py", ""])
def test_what_is_read_only_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda asked, mode: Path(asked) != tmp_path / what)
    with pytest.raises(PermissionError, match="read-only"):
        write_atomically(str(path), b"new")
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("number", signals.ENDING)
def test_signals_wait_until_the_file_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    class Ended(Exception):
        pass

    def end(number: int, frame: object) -> None:
        raise Ended

    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    fsync = os.fsync

    def interrupt_and_sync(descriptor: int) -> None:
        signal.raise_signal(number)
        fsync(descriptor)

    monkeypatch.setattr(writer.os, "fsync", interrupt_and_sync)
    before = signal.signal(number, end)
    try:
        with pytest.raises(Ended):
            write_atomically(str(path), b"new")
        assert signal.getsignal(number) is end
    finally:
        signal.signal(number, before)
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["a.py"]


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with signals.held():
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)


def test_the_words_for_it() -> None:
    assert writer.told(ChangedMeanwhile()) == "changed meanwhile, not written"
    assert writer.told(OSError(errno.ENOSPC, "No space left on device")) == "not written: No space left on device"
