"""Checkpoints as another machine writes them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def saved_on(device: str) -> Iterator[None]:
    """Inside, everything that is saved carries the location tag of `device` ("cuda:1"), which need not exist here."""
    original = torch.serialization.location_tag
    torch.serialization.location_tag = lambda storage: device
    try:
        yield
    finally:
        torch.serialization.location_tag = original


def checkpoint_from(device: str, what: object, path: str) -> None:
    """A file as it comes from a machine with `device`: `torch.save` has written it there."""
    with saved_on(device):
        torch.save(what, path)


def archive_from(device: str, module: torch.nn.Module, path: str) -> None:
    """A TorchScript file as it comes from a machine with `device`: the pickled names of the devices are what differs."""
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(module), buffer)
    here, there = (b"X" + len(name).to_bytes(4, "little") + name.encode() for name in ("cpu", device))
    with zipfile.ZipFile(buffer) as archive, zipfile.ZipFile(path, "w") as changed:
        for item in archive.infolist():
            data = archive.read(item)
            changed.writestr(item.filename, data.replace(here, there) if item.filename.endswith("data.pkl") else data)
