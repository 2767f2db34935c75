"""Random chains of two toy folds: helices and extended strands."""
import math

import torch

from records import AMINO, Chain


def helix(n):
    i = torch.arange(n, dtype=torch.float32)
    a = i * math.radians(100.0)
    return torch.stack([2.3 * a.cos(), 2.3 * a.sin(), 1.5 * i], dim=1)


def meander(n, strand=7):
    i = torch.arange(n)
    row, col = i // strand, i % strand
    col = torch.where(row % 2 == 0, col, strand - 1 - col)
    zig = 0.9 * ((i % 2) * 2 - 1)
    return torch.stack([3.3 * col, 4.8 * row, zig], dim=1).float()


def make_chains(count, generator):
    chains = []
    for k in range(count):
        n = int(torch.randint(20, 45, (1,), generator=generator))
        fold = k % 2
        coords = (helix if fold == 0 else meander)(n)
        coords = coords + 0.3 * torch.randn(n, 3, generator=generator)
        residues = torch.randint(len(AMINO), (n,), generator=generator)
        chains.append(Chain(f"toy{k:04d}", residues, coords, fold))
    return chains
