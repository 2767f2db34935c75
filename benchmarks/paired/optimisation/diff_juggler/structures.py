"""Data of a scene; all of it frozen, so a scene is moved by rebuilding it."""
import dataclasses
from dataclasses import dataclass, field

import torch


@dataclass(frozen=True)
class Plane:
    normal: torch.Tensor
    offset: torch.Tensor
    stiffness: float = 400.0
    friction: float = 0.4


@dataclass(frozen=True)
class Springs:
    index: torch.Tensor
    rest: torch.Tensor
    stiffness: float = 120.0
    damping: float = 1.5


@dataclass(frozen=True)
class Scene:
    position: torch.Tensor
    velocity: torch.Tensor
    springs: Springs
    planes: list = field(default_factory=list)
    constants: dict = field(default_factory=dict)
    name: str = "scene"

    def to(self, target):
        return transfer(self, target)


def transfer(obj, target):
    """Rebuild a nested structure with its tensors on ``target``."""
    if isinstance(obj, torch.Tensor):
        return obj.to(target)
    if dataclasses.is_dataclass(obj):
        changes = {f.name: transfer(getattr(obj, f.name), target) for f in dataclasses.fields(obj)}
        return dataclasses.replace(obj, **changes)
    if isinstance(obj, dict):
        return {key: transfer(value, target) for key, value in obj.items()}
    if isinstance(obj, (tuple, list)):
        return type(obj)(transfer(value, target) for value in obj)
    return obj
