"""`torchdevlint checkpoint`: which devices checkpoints need, and copies for other devices."""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from typing import Any

from torchdevlint import cli
from torchdevlint.checkpoints import Checkpoint, CheckpointError, read, retagged
from torchdevlint.checkpoints.needs import failures, map_locations
from torchdevlint.reporting.plain import shown, shown_name

_DESCRIPTION = """\
Tells which devices a checkpoint needs, without loading it: each storage in a file of torch.save carries the device that it was
saved from, and torch.load without map_location fails on a machine without that device. Reads .pt, .pth, .bin and .ckpt (zip and
legacy format), TorchScript and .safetensors. The pickle inside is never executed, and torch is not needed.
"""
_EPILOG = """\
examples:
  torchdevlint checkpoint model.pt                          devices, dtypes, sizes, and the map_location to use
  torchdevlint checkpoint --storages model.pt               each storage, with the names of its tensors
  torchdevlint checkpoint --json runs/*.ckpt                for programs
  torchdevlint checkpoint --retag cpu model.pt -o cpu.pt    a copy that loads anywhere; the data stays byte for byte

exit code: 0 every file loads on any machine (or the copy was written), 1 a file needs a device, 2 a file could not be read.
What weights_only=True refuses is told, and does not change the exit code.
"""
_MOST_NAMED = 10


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Adds the command's options."""
    parser = cli.command_parser(subparsers, "checkpoint", _DESCRIPTION, _EPILOG)
    parser.add_argument("files", nargs="+", metavar="FILE", help="a checkpoint")
    parser.add_argument("--storages", action="store_true", help="list each storage instead of sums")
    parser.add_argument("--json", action="store_true", help="a JSON array with an object for each file")
    parser.add_argument(
        "--retag",
        metavar="DEVICE",
        help="write a copy whose storages carry DEVICE (cpu or cuda:N); no machine with either device is needed",
    )
    parser.add_argument("-o", "--output", metavar="OUT", help="where --retag writes; must not exist")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; the exit code."""
    if (arguments.retag is None) != (arguments.output is None):
        return cli.fail("--retag and --output belong together: --retag cpu FILE -o OUT")
    if arguments.retag is not None and len(arguments.files) != 1:
        return cli.fail("--retag takes one FILE")
    code = 0
    objects = []
    for path in arguments.files:
        try:
            found = retagged(path, arguments.output, arguments.retag) if arguments.retag else read(path)
        except (CheckpointError, OSError) as error:
            reason = (
                str(error) if isinstance(error, CheckpointError) else f"cannot be opened: {error.strerror or error}"
            )
            if isinstance(error, OSError) and arguments.retag:
                reason = f"could not be copied: {error.strerror or error}"
            cli.tell(f"{path} {reason}")
            objects.append({"filename": path, "error": reason})
            code = cli.USAGE_ERROR
            continue
        name = arguments.output if arguments.retag else path
        objects.append(as_object(name, found))
        if not arguments.json:
            print("\n".join(_lines(name, found, arguments.storages)))
        if not arguments.retag and failures(found.locations):
            code = max(code, 1)
    if arguments.json:
        print(json.dumps(objects, indent=2))
    return code


def as_object(name: str, found: Checkpoint) -> dict[str, Any]:
    """The checkpoint for programs. Sizes are bytes; `map_location` are Python expressions."""
    trusted = found.weights_only
    return {
        "filename": name,
        "error": None,
        "format": found.format,
        "version": found.version,
        "byteorder": found.byteorder,
        "pickle_protocol": found.pickle_protocol,
        "bytes": found.size,
        "devices": list(found.locations),
        "devices_in_objects": list(found.devices_in_objects),
        "fails_on": list(failures(found.locations)),
        "map_location": [{"value": value, "for": purpose} for value, purpose in map_locations(found.locations)],
        "weights_only": None
        if trusted is None
        else {
            "loads": trusted.loads,
            "refused_globals": list(trusted.refused_globals),
            "blocked_globals": list(trusted.blocked_globals),
            "unsupported_opcodes": list(trusted.unsupported_opcodes),
        },
        "storages": [
            {
                "key": storage.key,
                "device": storage.location or None,
                "dtypes": list(storage.dtypes),
                "bytes": storage.bytes,
                "tensors": storage.tensors,
                "names": list(storage.names),
            }
            for storage in found.storages
        ],
    }


_FORMATS = {
    "zip": "torch.save, zip format",
    "legacy": "torch.save, legacy format",
    "torchscript": "TorchScript",
    "safetensors": "safetensors",
}


def _lines(name: str, found: Checkpoint, each: bool) -> list[str]:
    facts = [_FORMATS[found.format]]
    facts += [f"version {shown(found.version)}"] if found.version else []
    facts += [f"{shown(found.byteorder)}-endian"] if found.byteorder else []
    count = len(found.storages)
    lines = [f"{shown_name(name)}: {', '.join(facts)}; {count} storage{'s' * (count != 1)}, {_size(_total(found))}"]
    lines += _each(found) if each else _sums(found)
    if len(found.locations) > 1:
        lines.append(f"  Storages on several devices: {shown(', '.join(found.locations))}.")
    if found.devices_in_objects:
        lines.append(
            f"  Pickled torch.device objects, which map_location does not change: {shown(', '.join(found.devices_in_objects))}."
        )
    lines += _advice(found)
    lines += _trust(found)
    return lines


def _sums(found: Checkpoint) -> list[str]:
    sums: dict[tuple[str, str], list[int]] = defaultdict(list)
    for storage in found.storages:
        sums[storage.location or "(no device)", "+".join(storage.dtypes)].append(storage.bytes)
    rows = [(device, dtype, str(len(sizes)), _size(sum(sizes))) for (device, dtype), sizes in sorted(sums.items())]
    return _table([("device", "dtype", "storages", "size"), *rows]) if rows else []


def _each(found: Checkpoint) -> list[str]:
    rows: list[tuple[str, ...]] = [("storage", "device", "dtype", "size", "tensors")]
    for storage in found.storages:
        names = ", ".join(storage.names) + f" and {storage.tensors - len(storage.names)} more" * (
            0 < len(storage.names) < storage.tensors
        )
        rows.append((storage.key, storage.location or "(none)", "+".join(storage.dtypes), _size(storage.bytes), names))
    return _table(rows)


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    safe = [[shown(cell) for cell in row] for row in rows]
    widths = [min(60, max(len(row[column]) for row in safe)) for column in range(len(rows[0]))]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in safe
    ]


def _advice(found: Checkpoint) -> list[str]:
    if found.format == "safetensors":
        return ["  Loads on any machine: the format carries no devices; load_file(path, device=...) chooses one."]
    machines = failures(found.locations)
    if not machines:
        return ["  Loads on any machine."]
    call = "torch.jit.load" if found.format == "torchscript" else "torch.load"
    lines = [f"  {call} without map_location fails on {shown(' and on '.join(machines))}."]
    lines += [
        f"  Use {call}(path, map_location={shown(value)}) for {shown(purpose)}."
        for value, purpose in map_locations(found.locations)
    ]
    return lines


def _trust(found: Checkpoint) -> list[str]:
    trusted = found.weights_only
    if trusted is None or trusted.loads:
        return []
    lines = ["  weights_only=True, the default from torch 2.6 on, refuses this file:"]
    if trusted.blocked_globals:
        lines.append(
            f"    never allowed: {_listed(trusted.blocked_globals)}. Do not load a file that you do not trust."
        )
    if trusted.refused_globals:
        lines.append(f"    not on torch's list: {_listed(trusted.refused_globals)}")
    if trusted.unsupported_opcodes:
        lines.append(f"    not understood by it: {_listed(trusted.unsupported_opcodes)}")
    return lines


def _listed(names: tuple[str, ...]) -> str:
    more = len(names) - _MOST_NAMED
    return shown(", ".join(name[:100] for name in names[:_MOST_NAMED])) + f" and {more} more" * (more > 0)


def _total(found: Checkpoint) -> int:
    return sum(storage.bytes for storage in found.storages)


def _size(count: int) -> str:
    for unit, power in (("GB", 9), ("MB", 6), ("kB", 3)):
        if count >= 10**power:
            return f"{count / 10**power:.1f} {unit}"
    return f"{count} bytes"
