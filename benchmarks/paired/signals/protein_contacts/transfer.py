"""Moves nested containers of tensors to a device."""
import dataclasses

import torch


def transfer(obj, device):
    """Tensors, and everything in lists, dicts and dataclasses, go to `device`.

    Whatever else there is (names, numbers, None) is handed through.
    """
    if isinstance(obj, torch.Tensor):
        return obj.to(device, non_blocking=True)
    if isinstance(obj, list):
        return [transfer(o, device) for o in obj]
    if isinstance(obj, dict):
        return {k: transfer(o, device) for k, o in obj.items()}
    if dataclasses.is_dataclass(obj) and not isinstance(obj, type):
        moved = {f.name: transfer(getattr(obj, f.name), device) for f in dataclasses.fields(obj)}
        return dataclasses.replace(obj, **moved)
    return obj
