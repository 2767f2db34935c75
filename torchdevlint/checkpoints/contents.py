"""What a checkpoint holds, as plain data."""

from __future__ import annotations

from dataclasses import dataclass


class CheckpointError(Exception):
    """A file that cannot be read, or not be retagged; the text is a sentence that names the reason."""


@dataclass(frozen=True, slots=True)
class Storage:
    """A block of memory that tensors view.

    `location` is the tag that torch wrote (`cpu`, `cuda:1`); empty for safetensors, which have none. `dtypes` are those of the
    tensors on it, without `torch.`; `bytes` its size in the file; `tensors` how many tensors view it, `names` the paths of the first few.
    """

    key: str
    location: str
    dtypes: tuple[str, ...]
    bytes: int
    tensors: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WeightsOnly:
    """Why `torch.load(weights_only=True)` refuses a file: globals outside its default allowlist, and instructions it does not know."""

    refused_globals: tuple[str, ...] = ()
    blocked_globals: tuple[str, ...] = ()  # those that add_safe_globals cannot allow either
    unsupported_opcodes: tuple[str, ...] = ()

    @property
    def loads(self) -> bool:
        """Whether nothing here stands in the way."""
        return not (self.refused_globals or self.blocked_globals or self.unsupported_opcodes)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A file's contents. `format` is `zip`, `legacy`, `torchscript` or `safetensors`.

    `version` is the text of the zip record `version`, the legacy protocol number, or None. `other_locations` are tags of
    tensors without storages (XLA); `devices_in_objects` are those of pickled `torch.device` objects, which `map_location` leaves alone.
    """

    format: str
    version: str | None
    byteorder: str | None
    pickle_protocol: int | None
    size: int
    storages: tuple[Storage, ...]
    weights_only: WeightsOnly | None
    other_locations: tuple[str, ...] = ()
    devices_in_objects: tuple[str, ...] = ()

    @property
    def locations(self) -> tuple[str, ...]:
        """The distinct tags that torch.load restores, sorted."""
        found = {storage.location for storage in self.storages if storage.location}
        return tuple(sorted(found.union(self.other_locations)))
