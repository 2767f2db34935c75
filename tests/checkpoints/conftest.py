"""Checkpoints written by the installed torch, with the device tags that a test asks for."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

Save = Callable[..., Path]


@pytest.fixture
def save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Save:
    """save(value, tags, **options of torch.save): a file whose storages carry `tags` in turn, the last one for all others."""
    import torch
    import torch.serialization

    count = 0

    def save(value: Any, tags: Sequence[str] = ("cpu",), **options: Any) -> Path:
        nonlocal count
        count += 1
        given: dict[int, str] = {}

        def location_tag(storage: Any) -> str:
            key = storage._cdata
            if key not in given:
                given[key] = "".join(tags[min(len(given), len(tags) - 1)])  # one string for a tag, as interned ones are
            return given[key]

        path = tmp_path / f"checkpoint{count}.pt"
        with monkeypatch.context() as patched, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            patched.setattr(torch.serialization, "location_tag", location_tag)
            torch.save(value, path, **options)
        return path

    return save


@pytest.fixture
def load() -> Callable[..., Any]:
    """torch.load without its warnings."""
    import torch

    def load(path: Path, map_location: Any = None, weights_only: bool = False) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.load(path, map_location=map_location, weights_only=weights_only)

    return load


@pytest.fixture
def loads_weights(load: Callable[..., Any]) -> Callable[[Path], bool]:
    """Whether `torch.load(weights_only=True)` reads a file."""

    def loads_weights(path: Path) -> bool:
        try:
            load(path, "cpu", weights_only=True)
        except Exception:
            return False
        return True

    return loads_weights
