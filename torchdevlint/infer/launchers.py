"""Objects that bring a program to its device: `accelerate.Accelerator` (accelerate/accelerator.py) and `lightning.fabric.Fabric` (fabric/fabric.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchdevlint.infer import devices, reading
from torchdevlint.infer.joins import one_of
from torchdevlint.infer.state import COLLATED, FILLED
from torchdevlint.infer.values import (
    NONE,
    OTHER,
    UNKNOWN,
    Args,
    Const,
    Device,
    Ext,
    Keywords,
    Place,
    Ref,
    Site,
    Star,
    Term,
    Tup,
    Value,
    options_of,
)

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

ACCELERATOR, FABRIC = "accelerate.Accelerator", "lightning.fabric.Fabric"
_NAMES = {
    **dict.fromkeys(("accelerate.Accelerator", "accelerate.accelerator.Accelerator"), ACCELERATOR),
    **dict.fromkeys(
        (
            "lightning.Fabric",
            "lightning.fabric.Fabric",
            "lightning.fabric.fabric.Fabric",
            "lightning_fabric.Fabric",
            "lightning_fabric.fabric.Fabric",
        ),
        FABRIC,
    ),
}
_ON_GPU = ("auto", "gpu", *devices.ACCELERATORS)
_PREPARE = frozenset(
    "prepare prepare_model prepare_data_loader prepare_optimizer prepare_scheduler setup setup_module setup_dataloaders "
    "setup_optimizers".split()
)
_SAME = frozenset(
    "unwrap_model gather gather_for_metrics reduce pad_across_processes all_gather all_reduce broadcast".split()
)
_SPREAD = frozenset({"prepare", "setup", "setup_dataloaders", "setup_optimizers"})  # give several back as a tuple


def is_launcher(name: str) -> bool:
    """True for the classes of which this module knows the objects."""
    return name in _NAMES


def make(ctx: Context, name: str, keywords: Keywords, site: Site | None) -> Value:
    """A new one. It takes a GPU where there is one, unless whoever launches the program says otherwise: the device is an option."""
    kind = _NAMES[name]
    told = keywords.get("accelerator", Const("auto"))
    is_on_gpu = isinstance(told, Const) and str(told.value).startswith(_ON_GPU)
    if not is_on_gpu or "cpu" in keywords or "device_placement" in keywords:
        return ctx.new(site, "object", Ext(kind), {}, tag="launcher")
    launched = Term("call", Ext(f"{kind}.parse_args"), (), (), site)
    place = Term("as_device", Term("attribute", launched, "device"))
    return ctx.new(site, "object", Ext(kind), {".device": Device(place)}, tag="launcher")


def method(ctx: Context, launcher: Ref, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value | None:
    """A method of one; None where nothing is known of it."""
    device = ctx.heap[launcher].fields.get(".device")
    if not isinstance(device, Device) or any(isinstance(one, Star) for one in args):
        return None
    if name in _PREPARE and not {"move_to_device", "device_placement"} & keywords.keys():
        found = [
            one_of(
                [
                    (own, _prepared(ctx, one, device.place, site, (at, n)))
                    for n, (own, one) in enumerate(options_of(given))
                ]
            )
            for at, given in enumerate(args)
        ]
        return found[0] if len(found) == 1 or name not in _SPREAD else Tup(tuple(found))
    if name == "to_device" and args:
        return _brought(ctx, args[0], device.place, site)
    if name in _SAME and args:
        return args[0]
    return NONE if name == "backward" else OTHER if name in ("autocast", "accumulate", "no_sync") else None


def _brought(ctx: Context, value: Value, place: Place, site: Site | None) -> Value:
    """A sample, with its parts, on a device."""
    if isinstance(value, Tup):
        return Tup(tuple(_brought(ctx, one, place, site) for one in value.items))
    return devices.move(ctx, value, place, site)


def _prepared(ctx: Context, value: Value, place: Place, site: Site | None, at: tuple[int, int]) -> Value:
    """A model is moved, a loader brings its samples there, an optimizer stays what it is. `at`: which of several it is."""
    rec = ctx.rec(value)
    if rec is not None and FILLED in rec.fields:
        ctx.put(value, FILLED, UNKNOWN)  # its state is brought along (accelerate/optimizer.py)
    if rec is not None and COLLATED in rec.fields:
        item = _brought(ctx, reading.element(ctx, value), place, site)
        return ctx.new(site, "object", rec.cls, {**rec.fields, "*": item}, tag=("prepared", at))
    is_other = value is UNKNOWN or (rec is not None and rec.kind != "module")
    return value if is_other else devices.move(ctx, value, place, None)
