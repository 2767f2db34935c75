"""Damaged and hostile files cost a bounded amount, and end in a sentence."""

from __future__ import annotations

import os
import random
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from torchdevlint.checkpoints import CheckpointError, read, retagged
from torchdevlint.checkpoints import opcodes as instructions
from torchdevlint.checkpoints.symbolic import interpret


def archive(
    path: Path, pickle: bytes, *, method: int = zipfile.ZIP_STORED, records: dict[str, bytes] | None = None
) -> Path:
    with zipfile.ZipFile(path, "w", method) as new:
        new.writestr("m/data.pkl", pickle)
        for name, data in (records or {}).items():
            new.writestr(name, data)
    return path


def storage(key: bytes = b"0", numel: bytes = b"K\x01") -> bytes:
    return b"(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0" + key + b"X\3\0\0\0cpu" + numel + b"tQ"


PICKLES: dict[str, bytes] = {
    "empty": b"",
    "no stop": b"\x80\x02}",
    "unknown instruction": b"\x80\x02\xff.",
    "stack underflow": b"\x80\x02R.",
    "tuple without mark": b"\x80\x02t.",
    "missing memo": b"\x80\x02h\x05.",
    "string over the end": b"\x80\x02X\xff\xff\xff\xff.",
    "string of 2**63": b"\x80\x04\x8d" + b"\xff" * 8 + b".",
    "frame over the end": b"\x80\x04\x95" + b"\xff" * 8 + b"N.",
    "global without a name": b"\x80\x02c\n",
    "global of a megabyte": b"\x80\x02c" + b"a" * 1_000_000 + b"\nb\n.",
    "persistent id of lines": b"P0\n.",
    "extension": b"\x80\x02\x82\x01.",
    "storage without data": b"\x80\x02" + storage(b"7") + b".",
    "storage of 2**63": b"\x80\x02" + storage(numel=b"\x8a\x08" + b"\xff" * 7 + b"\x7f") + b".",
    "storage of -1": b"\x80\x02" + storage(numel=b"J\xff\xff\xff\xff") + b".",
    "storage of no kind": b"\x80\x02" + storage().replace(b"FloatStorage", b"FlootStorage") + b".",
    "storage of a list": b"\x80\x02" + storage(numel=b"]") + b".",
    "unknown id": b"\x80\x02K\x05Q.",
    "putting nothing": b"\x80\x02q\x01.",
    "integer that is none": b"Iabc\n.",
    "memo by text": b"gabc\n.",
}


@pytest.mark.parametrize("name", PICKLES)
def test_damaged_pickles_end_in_a_sentence(name: str, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError):
        read(archive(tmp_path / "m.pt", PICKLES[name], records={"m/data/0": bytes(4)}))


HARMLESS: dict[str, bytes] = {
    "recursive list": b"\x80\x02]q\x00h\x00a.",
    "recursive dict": b"\x80\x02}q\x00X\1\0\0\0ah\x00s.",
    "deep lists": b"\x80\x02" + b"]" * 20_000 + b"a" * 19_999 + b".",
    "deep tuples": b"\x80\x02)" + b"\x85" * 20_000 + b".",
    "deep calls": b"\x80\x02cos\nsystem\n" + b")R" * 10_000 + b".",
    "memo bomb": b"\x80\x02)q\x00" + b"".join(b"h\x00h\x00\x86q\x00" for _ in range(60)) + b".",
    "list bomb": b"\x80\x02]q\x00" + b"".join(b"](h\x00h\x00eq\x00" for _ in range(60)) + b".",
    "huge integer": b"\x80\x02L" + b"9" * 500_000 + b"L\n.",
    "huge long": b"\x80\x02\x8b" + struct.pack("<I", 1_000_000) + b"\xff" * 1_000_000 + b".",
    "far memo": b"\x80\x02Nr\xff\xff\xff\xff.",
    "float": b"\x80\x02F" + b"1" * 100_000 + b"\n.",
}


@pytest.mark.parametrize("name", HARMLESS)
def test_pickles_that_would_cost_a_pickle_machine_much_cost_little(name: str, tmp_path: Path) -> None:
    path = archive(tmp_path / "m.pt", HARMLESS[name])
    tracemalloc.start()
    try:
        assert read(path).storages == ()
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()


def test_too_many_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instructions, "MAXIMUM", 1000)
    assert interpret(b"N0" * 499 + b"N.").result is None
    with pytest.raises(CheckpointError, match="more than 1,000 instructions"):
        interpret(b"N0" * 500 + b"N.")


def test_names_of_deep_dictionaries_stay_short() -> None:
    key = b"X\x64\0\0\0" + b"k" * 100
    said = interpret(b"\x80\x02" + (b"}" + key) * 20_000 + storage() + b"s" * 20_000 + b".")
    assert all(len(name) < 1000 for name in said.storages["0"].names)


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = archive(tmp_path / "m.pt", b"\x80\x02" + bytes(130 << 20), method=zipfile.ZIP_DEFLATED)
    tracemalloc.start()
    try:
        with pytest.raises(CheckpointError, match="more than this tool reads"):
            read(path)
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()


def test_a_record_that_unpacks_to_more_than_it_claims(tmp_path: Path) -> None:
    path = archive(tmp_path / "m.pt", b"\x80\x02N." + bytes(1 << 20), method=zipfile.ZIP_DEFLATED)
    raw = bytearray(path.read_bytes())
    entry = raw.index(b"PK\x01\x02")
    struct.pack_into("<I", raw, entry + 24, 4)
    path.write_bytes(raw)
    with pytest.raises(CheckpointError, match="does not have the size"):
        read(path)


def entry_of(raw: bytes, name: bytes) -> int:
    at = raw.rindex(name)  # the directory stands behind the records
    return at - 46


def zip_faults() -> dict[str, Callable[[bytearray], None]]:
    def put(form: str, at: int, *values: int, name: bytes = b"m/data/0") -> Callable[[bytearray], None]:
        return lambda raw: struct.pack_into(form, raw, entry_of(raw, name) + at, *values)

    def end(form: str, at: int, *values: int) -> Callable[[bytearray], None]:
        return lambda raw: struct.pack_into(form, raw, raw.rindex(b"PK\x05\x06") + at, *values)

    return {
        "overlap": put("<I", 42, 0),
        "outside": put("<I", 42, 1 << 30),
        "size over the directory": put("<II", 20, 1 << 30, 1 << 30),
        "zip64 without sizes": put("<II", 20, 0xFFFFFFFF, 0xFFFFFFFF),
        "other name": lambda raw: raw.__setitem__(raw.index(b"m/data/0"), ord("x")),
        "encrypted": put("<H", 8, 1),
        "unknown method": put("<H", 10, 99, name=b"m/data.pkl"),
        "count too high": end("<HH", 8, 60000, 60000),
        "directory outside": end("<I", 16, 1 << 31),
        "directory too long": end("<I", 12, 1 << 31),
        "another disk": end("<H", 4, 7),
        "no end": lambda raw: raw.__delitem__(slice(-30, None)),
    }


@pytest.mark.parametrize("name", zip_faults())
def test_damaged_archives_end_in_a_sentence(name: str, tmp_path: Path) -> None:
    path = archive(tmp_path / "m.pt", b"\x80\x02" + storage() + b".", records={"m/data/0": bytes(4)})
    assert read(path).storages[0].bytes == 4
    raw = bytearray(path.read_bytes())
    zip_faults()[name](raw)
    path.write_bytes(raw)
    with pytest.raises(CheckpointError):
        read(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_records_of_one_name(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    with zipfile.ZipFile(path, "w") as new:
        new.writestr("m/data.pkl", b"\x80\x02N.")
        new.writestr("m/data.pkl", b"\x80\x02}.")
    with pytest.raises(CheckpointError, match="two records"):
        read(path)


NOT_CHECKPOINTS = {
    "": "is empty",
    "version https://git-lfs.github.com/spec/v1\n": "git lfs pull",
    "<!DOCTYPE html>": "web page",
    "GGUF": "GGUF",
    "hello world, this is text": "is no checkpoint",
    "\x80\x04}.": "torch.save did not write",
}


@pytest.mark.parametrize("beginning", NOT_CHECKPOINTS)
def test_other_files_are_named(beginning: str, tmp_path: Path) -> None:
    path = tmp_path / "m.bin"
    path.write_bytes(beginning.encode("latin-1"))
    with pytest.raises(CheckpointError, match=NOT_CHECKPOINTS[beginning]):
        read(path)


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises((CheckpointError, OSError)):
        read(tmp_path / "pipe")
    with pytest.raises((CheckpointError, OSError)):
        read(tmp_path)


@pytest.mark.parametrize("form", [{}, {"_use_new_zipfile_serialization": False}], ids=["zip", "legacy"])
def test_every_truncation_and_random_damage(form: dict[str, Any], tmp_path: Path, save: Any) -> None:
    raw = save({"w": torch.arange(6.0), "b": torch.zeros(2, dtype=torch.int8)}, ("cuda:0",), **form).read_bytes()
    path = tmp_path / "damaged.pt"
    for length in range(0, len(raw), 23):
        path.write_bytes(raw[:length])
        with pytest.raises(CheckpointError):
            read(path)
    choose = random.Random(5)
    for round_ in range(100):
        damaged = bytearray(raw)
        for _ in range(choose.randrange(1, 4)):
            damaged[choose.randrange(len(damaged))] = choose.randrange(256)
        path.write_bytes(damaged)
        try:
            read(path)
            retagged(path, tmp_path / f"copy{round_}.pt", "cpu")
        except CheckpointError:
            pass


def test_hostile_safetensors(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    for header in (
        b"{" + b'"a":{' * 100_000,
        b'{"w":' + b"[" * 100_000,
        b'{"w":{"dtype":"F32","shape":[' + b"9" * 100_000 + b'],"data_offsets":[0,4]}}',
        b'{"w":{},"w":{}}',
        b"{\xff\xff}",
        b"{",
    ):
        path.write_bytes(len(header).to_bytes(8, "little") + header)
        with pytest.raises(CheckpointError):
            read(path)
    path.write_bytes((1 << 40).to_bytes(8, "little") + b"{}")
    with pytest.raises(CheckpointError, match="truncated"):
        read(path)


def test_sums_of_a_copy_are_right(tmp_path: Path, save: Any) -> None:
    copy = tmp_path / "copy.pt"
    retagged(save([torch.ones(3)], ("cuda:0",)), copy, "cpu")
    with zipfile.ZipFile(copy) as made:
        for entry in made.infolist():
            assert zlib.crc32(made.read(entry)) == entry.CRC
