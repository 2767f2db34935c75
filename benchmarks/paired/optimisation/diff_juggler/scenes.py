import math

import torch

from structures import Plane, Scene, Springs


def _edges(rows, columns):
    pairs = []
    for r in range(rows):
        for c in range(columns):
            for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
                rr, cc = r + dr, c + dc
                if rr < rows and 0 <= cc < columns:
                    pairs.append((r * columns + c, rr * columns + cc))
    return torch.tensor(pairs)


def soft_block(rows=3, columns=4, size=0.2, slope=12.0):
    ys, xs = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    position = torch.stack([xs, ys], dim=-1).reshape(-1, 2) * size + torch.tensor([0.0, 0.6])
    index = _edges(rows, columns)
    rest = (position[index[:, 0]] - position[index[:, 1]]).norm(dim=1)
    angle = math.radians(slope)
    ground = Plane(torch.tensor([-math.sin(angle), math.cos(angle)]), torch.zeros(1))
    wall = Plane(torch.tensor([-1.0, 0.0]), torch.tensor([-3.0]), friction=0.0)
    return Scene(
        position=position,
        velocity=torch.zeros_like(position),
        springs=Springs(index, rest),
        planes=[ground, wall],
        constants={"gravity": torch.tensor([0.0, -9.8]), "drag": 0.05},
        name="block",
    )


REGISTRY = {"block": soft_block, "bar": lambda: soft_block(rows=2, columns=6, slope=5.0)}
