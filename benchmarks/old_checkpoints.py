"""Small checkpoints written by the torch of this interpreter, and what that torch reads from them, for tests/checkpoints/written.

    OLD/bin/python benchmarks/old_checkpoints.py tests/checkpoints/written

Runs on Python 3.6 and torch 1.1 and newer, and imports nothing of this project. Each file gets a line in FOLDER/written.jsonl: what `torch.load` of the
version that wrote it gave, as the bytes, the data type and the number of tensors of each storage, and the device tags that it was written with.
"""

import json
import sys
import warnings
from collections import OrderedDict
from pathlib import Path

import torch
from torch import nn

VERSION = torch.__version__.split("+")[0]
# From torch 1.6 on the zip format is the default; the versions before know it under the option or not at all.
FORMATS = [("zip", {"_use_new_zipfile_serialization": True}), ("legacy", {"_use_new_zipfile_serialization": False})]


def training():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(5, 3)).sum().backward()
    optimizer.step()
    return {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}


def views():
    base = torch.arange(24.0).reshape(4, 6)
    return {"base": base, "row": base[1], "transposed": base.t(), "other": torch.ones(2)}


def quantized():
    return torch.quantize_per_tensor(torch.arange(6.0), 0.1, 0, torch.qint8)


MAKERS = [
    ("tensor", lambda: torch.arange(4.0)),
    ("training", training),
    ("views", views),
    ("module", lambda: OrderedDict(layer=nn.Linear(3, 4))),
    ("parameters", lambda: [nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(2), requires_grad=False)]),
    ("half", lambda: {"half": torch.ones(3, dtype=torch.half), "bytes": torch.ones(4, dtype=torch.uint8)}),
    ("bool", lambda: torch.ones(3, dtype=torch.bool)),
    ("bfloat16", lambda: torch.ones(3).to(torch.bfloat16)),
    ("sparse", lambda: torch.sparse_coo_tensor(torch.tensor([[0, 1]]), torch.tensor([1.0, 2.0]), (2,))),
    ("quantized", quantized),
    ("empty", lambda: {"none": torch.zeros(0, 3), "one": torch.ones(1)}),
    ("lists", lambda: {(1, 2): torch.ones(2), "in": [{"deep": torch.zeros(3)}], "text": "x" * 300}),
]
TAGS = [("cuda:0",), ("cuda:1", "cpu")]


def tensors_of(value):
    """The tensors in what `torch.load` gave, each as often as it stands there."""
    if isinstance(value, torch.Tensor):
        if value.is_sparse:
            return [value._indices(), value._values()]
        return [value]
    if isinstance(value, nn.Module):
        return list(value.parameters()) + list(value.buffers())
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors_of(item)]
    return []


def storages_of(value):
    found = {}
    for tensor in tensors_of(value):
        storage = tensor.storage()
        size = len(storage) * storage.element_size()
        # Storages without data all have the address 0.
        key = (storage.data_ptr(), "" if size else len(found))
        found.setdefault(key, [size, str(tensor.dtype).replace("torch.", "")])
    return sorted(found.values())


def save(value, path, options, tags):
    """torch.save with the device tags of `tags`, the last one for all storages that are left."""
    given = {}
    own = torch.serialization.location_tag

    def location_tag(storage):
        key = storage._cdata
        if key not in given:
            given[key] = tags[min(len(given), len(tags) - 1)]
        return given[key]

    torch.serialization.location_tag = location_tag
    try:
        torch.save(value, path, **options)
    finally:
        torch.serialization.location_tag = own


def load(path):
    """torch.load of everything; versions before 1.13 read all that is there and know no `weights_only`."""
    try:
        return torch.load(path, map_location="cpu", weights_only=False)
    except TypeError:
        return torch.load(path, map_location="cpu")


def main():
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1])
    cases = [(name, make, ("cpu",)) for name, make in MAKERS]
    cases += [("-".join(tags).replace(":", ""), views, tags) for tags in TAGS]
    lines = []
    for name, make, tags in cases:
        for form, options in FORMATS:
            file = f"{VERSION}-{name}-{form}.pt"
            path = str(folder / file)
            try:
                try:
                    save(make(), path, options, tags)
                except TypeError:  # the option is unknown to versions that write the legacy format alone
                    if form == "zip":
                        raise
                    save(make(), path, {}, tags)
                read = load(path)
            except Exception as error:
                print(f"{file}: {type(error).__name__}: {error}", file=sys.stderr)
                if (folder / file).exists():
                    (folder / file).unlink()
                continue
            storages = storages_of(read)
            lines.append(
                {"file": file, "torch": VERSION, "format": form, "tags": sorted(set(tags)), "storages": storages}
            )
    with (folder / "written.jsonl").open("a") as out:
        for line in lines:
            out.write(json.dumps(line, sort_keys=True) + "\n")
    print(f"torch {VERSION}: {len(lines)} files")


main()
