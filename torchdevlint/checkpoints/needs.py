"""On which machines the storages of a checkpoint can be restored, and the `map_location` for the others.

torch/serialization.py: `default_restore_location`, `_deserialize`, `_validate_device`, `_mps_deserialize`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

BACKENDS = {"cuda": "CUDA", "mps": "MPS", "xpu": "XPU", "hpu": "HPU", "mtia": "MTIA"}
_INDEXED = re.compile(r"(cuda|xpu|hpu|mtia)(?:$|:?([0-9]{1,4})$|:.*)", re.DOTALL)
ANYWHERE = frozenset({"", "cpu", "meta"})


@dataclass(frozen=True, slots=True)
class Need:
    """A backend that must be there, with so many devices. An unknown one has the tag itself as its name, and `known` is False."""

    backend: str
    devices: int
    known: bool = True


def needs(locations: Iterable[str]) -> tuple[Need, ...]:
    """What `torch.load` without `map_location` needs to restore these tags, sorted by backend."""
    found: dict[str, Need] = {}
    for location in locations:
        if location in ANYWHERE:
            continue
        need = _need(location)
        if need.backend not in found or found[need.backend].devices < need.devices:
            found[need.backend] = need
    return tuple(found[name] for name in sorted(found))


def _need(location: str) -> Need:
    if location.startswith("mps"):
        return Need("mps", 1)
    match = _INDEXED.match(location)
    if match is None:
        return Need(location, 1, known=False)
    return Need(match[1], int(match[2] or 0) + 1)


def failures(locations: Iterable[str]) -> tuple[str, ...]:
    """The machines on which loading fails, each as a phrase behind "fails on"."""
    told = []
    for need in needs(locations):
        if not need.known:
            told.append(f"a machine where no package has registered the device {need.backend!r}")
            continue
        told.append(f"a machine without {BACKENDS[need.backend]}")
        if need.devices > 1:
            told.append(f"a machine with fewer than {need.devices} {BACKENDS[need.backend]} devices")
    return tuple(told)


def map_locations(locations: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Values for `map_location` as Python source, each with what it is for; none where every tag can be restored anywhere."""
    tags = sorted(set(locations) - ANYWHERE)
    if not tags:
        return ()
    told = [('"cpu"', "any machine; move the model to its device afterwards")]
    backends = needs(tags)
    if len(backends) == 1 and backends[0].known and backends[0].devices > 1:
        first = f"{backends[0].backend}:0"
        moved = ", ".join(f'"{tag}": "{first}"' for tag in tags if tag != first)
        told.append((f"{{{moved}}}", f"a machine with one {BACKENDS[backends[0].backend]} device"))
    return tuple(told)
