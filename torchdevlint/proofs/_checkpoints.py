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


def save_from(device: str, what: object, path: str) -> None:
    """`torch.save` as a program on a machine with `device` does it."""
    with saved_on(device):
        torch.save(what, path)


def save_script_from(device: str, module: torch.nn.Module, path: str) -> None:
    """`torch.jit.save` as a machine with `device` does it: the pickled names of the devices are what differs."""
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(module), buffer)
    here, there = (b"X" + len(name).to_bytes(4, "little") + name.encode() for name in ("cpu", device))
    with zipfile.ZipFile(buffer) as archive, zipfile.ZipFile(path, "w") as changed:
        for item in archive.infolist():
            data = archive.read(item)
            changed.writestr(item.filename, data.replace(here, there) if item.filename.endswith("data.pkl") else data)
