"""What `checkpoints.read` says, against what torch itself reads from the same file."""

from __future__ import annotations

import json
import warnings
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from torchdevlint.checkpoints import CheckpointError, read, retagged
from torchdevlint.checkpoints.needs import failures, map_locations, needs
from torchdevlint.checkpoints.tables import ALLOWED, BLOCKED_MODULES, STORAGES

FORMATS = {"zip": {}, "legacy": {"_use_new_zipfile_serialization": False}, "protocol4": {"pickle_protocol": 4}}


def quantized() -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.quantize_per_tensor(torch.arange(6.0), 0.1, 0, torch.qint8)


def per_channel() -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.quantize_per_channel(torch.eye(3), torch.ones(3), torch.zeros(3), 0, torch.quint8)


def trained() -> dict[str, Any]:
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.randn(5, 3)).sum().backward()
    optimizer.step()
    return {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3, "args": {"device": "cpu"}}


def views() -> dict[str, torch.Tensor]:
    base = torch.arange(24.0).reshape(4, 6)
    return {"base": base, "row": base[1], "transposed": base.t(), "strided": base[::2, ::3], "other": torch.ones(2)}


MAKERS: dict[str, Any] = {
    "tensor": lambda: torch.arange(4.0),
    "scalar": lambda: torch.tensor(1.5),
    "empty": lambda: {"a": torch.zeros(0), "b": torch.zeros(0, 3), "c": torch.ones(1)},
    "nothing": lambda: {"epoch": 3, "name": "cuda:0"},
    "state_dict": lambda: nn.Linear(3, 4).state_dict(),
    "module": lambda: OrderedDict(layer=nn.Linear(3, 4)),
    "training": trained,
    "views": views,
    "parameter": lambda: [nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(2), requires_grad=False)],
    "parameter_with_state": lambda: with_state(),
    "bool": lambda: torch.tensor([True, False]),
    "bfloat16": lambda: torch.ones(3, dtype=torch.bfloat16),
    "half": lambda: torch.ones(3, dtype=torch.half),
    "complex": lambda: (torch.ones(3, dtype=torch.complex64).conj(), torch.ones(3, dtype=torch.complex128)),
    "integers": lambda: [
        torch.ones(2, dtype=getattr(torch, name)) for name in ("int8", "uint8", "int16", "int32", "int64")
    ],
    "sparse_coo": lambda: torch.eye(3).to_sparse(),
    "sparse_csr": lambda: torch.eye(3).to_sparse_csr(),
    "quantized": quantized,
    "per_channel": per_channel,
    "storage": lambda: torch.arange(4.0).untyped_storage(),
    "tuple_keys": lambda: {(1, 2): torch.ones(2), 7: torch.zeros(3), None: [torch.ones(1)]},
    "nested": lambda: nested(60),
    "generator_state": lambda: {"rng": torch.get_rng_state(), "weights": torch.ones(2)},
    "long_strings": lambda: {
        "x" * 5000: torch.ones(2),
        "note": "y" * 100_000,
        "bytes": b"z" * 70_000,
        "after": torch.ones(2),
    },
    "device": lambda: {"device": torch.device("cuda:3"), "w": torch.ones(2)},
    "size": lambda: [torch.Size([2, 3]), {1, 2}, 1 + 2j, 2**80, -(2**70), bytearray(b"ab"), torch.ones(3)],
}
# torch.save of the legacy format writes an UntypedStorage for them, as it does for "storage", and torch.load (2.13) fails on it.
NEW_DTYPES = {
    "uint16": lambda: torch.ones(3, dtype=torch.uint16),
    "uint64": lambda: torch.ones(3, dtype=torch.uint64),
    "float8": lambda: torch.ones(5).to(torch.float8_e4m3fn),
    "complex32": lambda: torch.ones(3, dtype=torch.complex32),
}


def with_state() -> nn.Parameter:
    parameter = nn.Parameter(torch.ones(3))
    parameter.mask = torch.zeros(4)  # type: ignore[attr-defined]
    return parameter


def nested(depth: int) -> Any:
    value: Any = torch.ones(2)
    for index in range(depth):
        value = [value] if index % 2 else {"in": value}
    return value


CASES = [
    (name, maker, form) for name, maker in MAKERS.items() for form in FORMATS if (name, form) != ("storage", "legacy")
]
CASES += [(name, maker, form) for name, maker in NEW_DTYPES.items() for form in ("zip", "protocol4")]


def storages_of(value: Any) -> dict[int, tuple[int, set[str]]]:
    """Bytes and dtypes of each storage in what torch.load gave, by its identity. Reads what a user of the object would see."""
    found: dict[int, tuple[int, set[str]]] = {}

    def add(tensor: torch.Tensor) -> None:
        if tensor.layout == torch.sparse_coo:
            for part in (tensor._indices(), tensor._values()):
                add(part)
        elif tensor.layout == torch.sparse_csr:
            for part in (tensor.crow_indices(), tensor.col_indices(), tensor.values()):
                add(part)
        else:
            storage = tensor.untyped_storage()
            found.setdefault(storage._cdata, (storage.nbytes(), set()))[1].add(str(tensor.dtype).removeprefix("torch."))
            if tensor.is_quantized and tensor.qscheme() != torch.per_tensor_affine:
                add(tensor.q_per_channel_scales())
                add(tensor.q_per_channel_zero_points())
            for attribute in getattr(tensor, "__dict__", {}).values():
                visit(attribute)

    def visit(item: Any) -> None:
        if isinstance(item, torch.Tensor):
            add(item)
        elif isinstance(item, torch.storage.TypedStorage):
            visit(item._untyped_storage)
        elif isinstance(item, torch.UntypedStorage):
            found.setdefault(item._cdata, (item.nbytes(), {"uint8"}))
        elif isinstance(item, nn.Module):
            for tensor in (*item.parameters(), *item.buffers()):
                add(tensor)
        elif isinstance(item, dict):
            for inner in item.values():
                visit(inner)
        elif isinstance(item, (list, tuple)):
            for inner in item:
                visit(inner)

    visit(value)
    return found


@pytest.mark.parametrize(("name", "maker", "form"), CASES, ids=[f"{name}-{form}" for name, _, form in CASES])
def test_storages_are_those_that_torch_reads(name: str, maker: Any, form: str, save: Any, load: Any) -> None:
    path = save(maker(), **FORMATS[form])
    found = read(path)
    loaded = load(path, "cpu")
    expected = sorted((size, sorted(dtypes)) for size, dtypes in storages_of(loaded).values())
    assert sorted((storage.bytes, sorted(storage.dtypes)) for storage in found.storages) == expected
    assert found.format == ("legacy" if form == "legacy" else "zip")
    assert set(found.locations) <= {"cpu"}
    assert found.byteorder == "little"
    assert found.size == path.stat().st_size


@pytest.mark.parametrize(("name", "maker", "form"), CASES, ids=[f"{name}-{form}" for name, _, form in CASES])
def test_weights_only_is_judged_as_torch_does(name: str, maker: Any, form: str, save: Any, loads_weights: Any) -> None:
    path = save(maker(), **FORMATS[form])
    found = read(path)
    assert found.weights_only is not None
    if form == "zip":
        unsafe = torch.serialization.get_unsafe_globals_in_checkpoint(path)
        assert sorted(found.weights_only.refused_globals) == sorted(unsafe)
    assert found.weights_only.loads == loads_weights(path)


def test_the_allowlist_is_that_of_torch() -> None:
    from torch import _weights_only_unpickler as unpickler

    assert frozenset(unpickler._get_allowed_globals()) == ALLOWED
    assert frozenset(unpickler._blocklisted_modules) == BLOCKED_MODULES
    written = torch.storage._dtype_to_storage_type_map()
    for dtype, name in written.items():
        assert STORAGES[name] == (str(dtype).removeprefix("torch."), torch._utils._element_size(dtype))


def test_shared_storages_are_counted_once(save: Any) -> None:
    found = read(save(views()))
    assert [(storage.bytes, storage.tensors, storage.names) for storage in found.storages] == [
        (96, 4, ("base", "row", "transposed")),
        (8, 1, ("other",)),
    ]


def test_names_lead_to_the_tensors(save: Any) -> None:
    found = read(save(trained()))
    names = {name for storage in found.storages for name in storage.names}
    assert {"model.0.weight", "model.1.running_mean", "optimizer.state.0.exp_avg"} <= names


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "tags", [("cuda:0",), ("cuda:1", "cpu"), ("cuda:0", "cuda:3", "cpu"), ("mps",), ("xpu:0",), ("npu:0",), ("hpu",)]
)
def test_a_file_loads_here_exactly_if_nothing_is_needed(tags: tuple[str, ...], form: str, save: Any, load: Any) -> None:
    value = {str(index): torch.full((3,), float(index)) for index in range(4)}
    path = save(value, tags, **FORMATS[form])
    found = read(path)
    assert set(found.locations) == set(tags)
    assert failures(found.locations)
    with pytest.raises((RuntimeError, AssertionError)):
        load(path)
    for expression, _ in map_locations(found.locations):
        if expression == '"cpu"':
            loaded = load(path, "cpu")
            assert all(torch.equal(loaded[key], value[key]) for key in value)


@pytest.mark.parametrize(
    "tag", ["cuda", "cuda:2", "cuda0", "mps:0", "xpu", "xpu:1", "hpu:0", "mtia:0", "cpu", "meta", "npu", "cudax"]
)
def test_needs_follow_the_restore_functions_of_torch(tag: str) -> None:
    """The error of `default_restore_location` names the backend that is missing, or says that nobody knows the tag."""
    from torch.serialization import default_restore_location

    try:
        default_restore_location(torch.UntypedStorage(4), tag)
        told = ""
    except Exception as error:
        told = str(error)
    need = needs([tag])
    if not need:
        assert not told
    elif need[0].known:
        assert told
        assert "don't know how to restore" not in told
    else:
        assert "don't know how to restore" in told


def test_the_number_of_devices_is_the_highest_index() -> None:
    assert [(need.backend, need.devices) for need in needs(["cuda:0", "cuda:3", "cpu", "xpu:1"])] == [
        ("cuda", 4),
        ("xpu", 2),
    ]
    assert "fewer than 4 CUDA devices" in " ".join(failures(["cuda:0", "cuda:3"]))
    assert map_locations(["cuda:0", "cuda:3"])[1][0] == '{"cuda:3": "cuda:0"}'
    assert not map_locations(["cpu", "meta"])


def test_meta_and_devices_in_objects(save: Any) -> None:
    found = read(save({"m": torch.empty(3, device="meta"), "d": torch.device("cuda:1"), "w": torch.ones(1)}))
    assert found.locations == ("cpu",)
    assert found.devices_in_objects == ("cuda:1",)


def test_globals_that_are_never_allowed(tmp_path: Path, save: Any) -> None:
    path = save({"w": torch.ones(1)})
    marker = tmp_path / "was-run"
    payload = (
        b"\x80\x02cposix\nsystem\nX"
        + len(f"touch {marker}").to_bytes(4, "little")
        + f"touch {marker}".encode()
        + b"\x85R."
    )
    evil = tmp_path / "evil.pt"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(evil, "w") as new:
        for name in old.namelist():
            new.writestr(name, payload if name.endswith("data.pkl") else old.read(name))
    found = read(evil)
    assert found.weights_only is not None
    assert found.weights_only.blocked_globals == ("posix.system",)
    assert not marker.exists()


def test_torchscript(tmp_path: Path) -> None:
    path = tmp_path / "script.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.trace(nn.Linear(3, 4), torch.ones(1, 3)), path)
    found = read(path)
    assert (found.format, found.locations, sorted(storage.bytes for storage in found.storages)) == (
        "torchscript",
        ("cpu",),
        [16, 48],
    )
    assert found.weights_only is None


def test_older_files(tmp_path: Path, save: Any) -> None:
    """Records that older versions did not write are missing, and archives have other names."""
    path = save({"w": torch.ones(3)}, ("cuda:1",))
    old = tmp_path / "old.pth"
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(old, "w") as new:
        for name in archive.namelist():
            inner = name.split("/", 1)[1]
            if inner in ("data.pkl", "version") or inner.startswith("data/"):
                new.writestr("model_best/" + inner, archive.read(name))
    found = read(old)
    assert (found.locations, found.byteorder, found.version) == (("cuda:1",), None, "3")
    assert torch.load(old, map_location="cpu")["w"].tolist() == [1.0, 1.0, 1.0]


def safetensors(path: Path, header: Any, data: bytes) -> Path:
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(raw).to_bytes(8, "little") + raw + data)
    return path


def test_safetensors(tmp_path: Path) -> None:
    header = {
        "__metadata__": {"format": "pt"},
        "w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
        "b": {"dtype": "BF16", "shape": [], "data_offsets": [24, 26]},
        "none": {"dtype": "I64", "shape": [0, 4], "data_offsets": [26, 26]},
    }
    found = read(safetensors(tmp_path / "m.safetensors", header, bytes(26)))
    assert [(storage.key, storage.dtypes, storage.bytes) for storage in found.storages] == [
        ("w", ("float32",), 24),
        ("b", ("bfloat16",), 2),
        ("none", ("int64",), 0),
    ]
    assert found.locations == ()


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [-1], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": [1 << 40, 1 << 40], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]},
        {"dtype": "F33", "shape": [2], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": [True, 2], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": "xx", "data_offsets": [0, 8]},
        [],
    ],
)
def test_damaged_safetensors(tmp_path: Path, entry: Any) -> None:
    with pytest.raises(CheckpointError):
        read(safetensors(tmp_path / "m.safetensors", {"w": entry}, bytes(8)))


class OnXla:
    """Pickles as a tensor of a backend without storages does (torch/_tensor.py, `_reduce_ex_internal`)."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        return torch._utils._rebuild_device_tensor_from_cpu_tensor, (torch.ones(3), torch.float32, "xla:0", False)


def test_tensors_of_backends_without_storages(tmp_path: Path, save: Any, load: Any) -> None:
    path = save({"w": OnXla()})
    found = read(path)
    assert found.locations == ("cpu", "xla:0")
    assert failures(found.locations)
    with pytest.raises(NotImplementedError):
        load(path)
    assert load(path, "cpu")["w"].tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(CheckpointError, match="device of their own"):
        retagged(path, tmp_path / "copy.pt", "cpu")
