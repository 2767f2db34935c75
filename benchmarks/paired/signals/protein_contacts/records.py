"""Chains, mini-batches of chains and how they are put together."""
from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

AMINO = "ACDEFGHIKLMNPQRSTVWY"


@dataclass
class Chain:
    name: str
    residues: Tensor      # (n,) indices into AMINO
    coords: Tensor        # (n, 3) C-alpha positions
    fold: int


@dataclass
class EdgeSet:
    src: Tensor
    dst: Tensor
    length: Tensor

    def __len__(self):
        return self.src.numel()


@dataclass
class Batch:
    residues: Tensor
    owner: Tensor                      # which chain a residue belongs to
    scales: list[EdgeSet]              # one edge set per radius, short to long
    target: Tensor
    names: tuple[str, ...] = field(default=())

    @property
    def n_chains(self):
        return self.target.numel()


def edges_within(coords: Tensor, low: float, high: float, offset: int) -> EdgeSet:
    d = torch.cdist(coords, coords)
    src, dst = torch.where((d > low) & (d <= high))
    return EdgeSet(src + offset, dst + offset, d[src, dst])


def merge(parts: list[EdgeSet]) -> EdgeSet:
    return EdgeSet(*(torch.cat([getattr(p, k) for p in parts]) for k in ("src", "dst", "length")))


class Collate:
    def __init__(self, radii):
        self.shells = list(zip([0.0, *radii[:-1]], radii))

    def __call__(self, chains: list[Chain]) -> Batch:
        offsets, total = [], 0
        for c in chains:
            offsets.append(total)
            total += len(c.residues)
        scales = []
        for low, high in self.shells:
            parts = [edges_within(c.coords, low, high, o) for c, o in zip(chains, offsets)]
            scales.append(merge(parts))
        sizes = torch.tensor([len(c.residues) for c in chains])
        return Batch(
            residues=torch.cat([c.residues for c in chains]),
            owner=torch.repeat_interleave(torch.arange(len(chains)), sizes),
            scales=scales,
            target=torch.tensor([c.fold for c in chains]),
            names=tuple(c.name for c in chains),
        )
