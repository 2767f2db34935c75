"""Copies with other tags: torch reads the same tensors from them, and nothing else in the file has changed."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from torchdevlint.checkpoints import CheckpointError, read, retagged
from torchdevlint.checkpoints.opcodes import operations
from torchdevlint.checkpoints.rewriting import rewritten
from torchdevlint.checkpoints.symbolic import interpret

FORMATS = {"zip": {}, "legacy": {"_use_new_zipfile_serialization": False}, "protocol4": {"pickle_protocol": 4}}
TAGS = {
    "one": ("cuda:0",),
    "mixed": ("cuda:1", "cpu", "cuda:0"),
    "mps": ("mps",),
    "cpu": ("cpu",),
    "unknown": ("npu:12",),
}


def value() -> dict[str, Any]:
    base = torch.arange(12.0).reshape(3, 4)
    return {
        "layers": nn.Linear(4, 3).state_dict(),
        "base": base,
        "view": base.t()[1:],
        "parameter": nn.Parameter(torch.ones(2)),
        "sparse": torch.eye(3).to_sparse(),
        "half": torch.ones(3, dtype=torch.bfloat16),
        "empty": torch.zeros(0),
        "device": "".join(["cu", "da:1"]),
        "cpu": "cpu",
        "note": "x" * 70_000,
        "list": [torch.full((2,), float(index)) for index in range(40)],
    }


def assert_same(left: Any, right: Any) -> None:
    assert type(left) is type(right)
    if isinstance(left, torch.Tensor):
        assert left.dtype == right.dtype
        assert left.stride() == right.stride() if left.layout == torch.strided else left.is_sparse
        assert (
            torch.equal(left, right) if left.layout == torch.strided else torch.equal(left.to_dense(), right.to_dense())
        )
    elif isinstance(left, dict):
        assert list(left) == list(right)
        for key in left:
            assert_same(left[key], right[key])
    elif isinstance(left, list):
        assert len(left) == len(right)
        for one, other in zip(left, right, strict=True):
            assert_same(one, other)
    else:
        assert left == right


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("tags", TAGS)
@pytest.mark.parametrize("new", ["cpu", "cuda:0", "cuda:123"])
def test_the_copy_loads_and_is_equal(tags: str, form: str, new: str, tmp_path: Path, save: Any, load: Any) -> None:
    path = save(value(), TAGS[tags], **FORMATS[form])
    before = path.read_bytes()
    copy = tmp_path / "copy.pt"
    retagged(path, copy, new)
    assert read(copy).locations == (new,)
    asked: set[str] = set()
    old = load(path, "cpu")
    assert_same(load(copy, lambda storage, location: asked.add(location) or storage), old)
    assert asked == {new}
    if new == "cpu":
        assert_same(load(copy), old)  # without map_location
        if form != "protocol4":
            load(copy, weights_only=True)
    assert path.read_bytes() == before
    assert sorted(item.name for item in tmp_path.iterdir()) == sorted([path.name, "copy.pt"])


@pytest.mark.parametrize("new", ["cpu", "cuda:123"])
def test_the_other_records_are_byte_for_byte_and_aligned(new: str, tmp_path: Path, save: Any) -> None:
    path = save(value(), ("cuda:0",))
    copy = tmp_path / "copy.pt"
    retagged(path, copy, new)
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(copy) as made:
        assert made.testzip() is None
        assert made.namelist() == old.namelist()
        for name in old.namelist():
            assert (made.read(name) == old.read(name)) != name.endswith("data.pkl")
    reader = torch._C.PyTorchFileReader(str(copy))
    for name in reader.get_all_records():
        assert reader.get_record_offset(name) % 64 == 0
    if new == "cpu":  # shorter: the padding takes up the difference, and no storage moves
        assert copy.stat().st_size == path.stat().st_size
        assert reader.get_record_offset("data/3") == torch._C.PyTorchFileReader(str(path)).get_record_offset("data/3")


def test_offsets_that_torch_calculates_are_right(tmp_path: Path, save: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from torch.utils.serialization import config

    monkeypatch.setenv("TORCH_SERIALIZATION_DEBUG", "1")
    for new in ("cpu", "cuda:123"):
        copy = tmp_path / f"{new.replace(':', '')}.pt"
        retagged(save(value(), ("cuda:0",)), copy, new)
        with config.patch({"load.calculate_storage_offsets": True}):
            torch.load(copy, map_location="cpu", mmap=True)
            torch.load(copy, map_location="cpu")


def test_every_other_record_alignment(tmp_path: Path, save: Any) -> None:
    """Archives that zipfile wrote have no padding, and their data moves freely."""
    path = save(value(), ("cuda:0",))
    plain = tmp_path / "plain.pt"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(plain, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    for tag in ("cpu", "cuda:123"):
        copy = tmp_path / f"{tag.replace(':', '')}.pt"
        retagged(plain, copy, tag)
        assert_same(torch.load(copy, map_location="cpu"), torch.load(plain, map_location="cpu"))
        with zipfile.ZipFile(copy) as made:
            assert made.testzip() is None


def test_strings_of_the_user_stay(tmp_path: Path, save: Any, load: Any) -> None:
    """A tag and a string of the user's that are the same object: before, between and behind the storages."""
    tag = "".join(["cuda", ":1"])
    for form in FORMATS:
        for order in range(3):
            items: list[Any] = [torch.ones(1), torch.zeros(2)]
            items.insert(order, {"device": tag, tag: [tag, tag]})
            path = save_with_object(save, items, tag, FORMATS[form])
            copy = tmp_path / f"{form}{order}.pt"
            retagged(path, copy, "cpu")
            assert_same(load(copy), load(path, "cpu"))
            assert load(copy)[order] == {"device": "cuda:1", "cuda:1": ["cuda:1", "cuda:1"]}


def save_with_object(save: Any, items: list[Any], tag: str, options: dict[str, Any]) -> Path:
    """Saves with the very object `tag` as the location of all storages."""
    path: Path = save(items, (tag,), **options)
    original = torch.serialization.location_tag
    torch.serialization.location_tag = lambda storage: tag
    try:
        torch.save(items, path, **options)
    finally:
        torch.serialization.location_tag = original
    return path


def test_the_pickle_has_the_old_instructions_and_whole_frames(save: Any) -> None:
    path = save(value(), ("cuda:1", "cuda:0"), pickle_protocol=4)
    with zipfile.ZipFile(path) as archive:
        data = archive.read("checkpoint1/data.pkl")
    made = rewritten(data, 0, interpret(data), "cpu")
    names = [name for name, *_ in operations(data)]
    assert [name for name, *_ in operations(made)] == names
    assert names.count("FRAME") > 1
    frames = [
        (end, int.from_bytes(made[begin:end], "little")) for name, _, begin, end in operations(made) if name == "FRAME"
    ]
    boundaries = {position for _, position, _, _ in operations(made)} | {len(made)}
    assert all(end + length in boundaries for end, length in frames)

    class Unpickler(pickle._Unpickler):  # type: ignore[misc,name-defined]  # the Python one checks frames
        def persistent_load(self, identity: Any) -> Any:
            assert identity[3] == "cpu"
            return None

        def find_class(self, module: str, name: str) -> Any:
            return lambda *arguments: OrderedDict()

    Unpickler(io.BytesIO(made)).load()


def test_what_is_not_retagged(tmp_path: Path, save: Any) -> None:
    path = save({"w": torch.ones(2)}, ("cuda:0",))
    out = tmp_path / "out.pt"
    for tag in ("cuda", "CPU", "mps", "cuda:01", "cuda:-1", "", "cpu\n"):
        with pytest.raises(CheckpointError):
            retagged(path, out, tag)
    with pytest.raises(CheckpointError, match="exists already"):
        retagged(path, path, "cpu")
    link = tmp_path / "link.pt"
    link.symlink_to("nowhere.pt")
    with pytest.raises(CheckpointError, match="exists already"):
        retagged(path, link, "cpu")
    plain = tmp_path / "model.safetensors"
    plain.write_bytes((2).to_bytes(8, "little") + b"{}")
    with pytest.raises(CheckpointError, match="no devices"):
        retagged(plain, out, "cpu")
    script = tmp_path / "script.pt"
    torch.jit.save(torch.jit.script(nn.Linear(2, 2)), script)
    with pytest.raises(CheckpointError, match="TorchScript"):
        retagged(script, out, "cpu")
    assert not out.exists()
    assert not [item for item in tmp_path.iterdir() if item.name.startswith(".torchdevlint")]


def test_meta_keeps_its_tag(tmp_path: Path, save: Any) -> None:
    path = save([torch.ones(1), torch.zeros(2)], ("meta", "cuda:0"))
    assert retagged(path, tmp_path / "copy.pt", "cpu").locations == ("cpu", "meta")


def test_a_description_that_is_used_twice_is_refused(tmp_path: Path, save: Any) -> None:
    path = save([torch.ones(1)], ("cuda:0",))
    with zipfile.ZipFile(path) as old:
        data = old.read("checkpoint1/data.pkl")
    at = data.index(b"Q")  # BINPERSID; its argument is memoised directly before
    memo = data[at - 1 : at]
    assert data[at - 2 : at - 1] == b"q"
    data = data[:-1] + b"h" + memo + b"\x86."
    with pytest.raises(CheckpointError, match="twice"):
        rewritten(data, 0, interpret(data), "cpu")
