"""TDL903: two readings of the clock with no synchronisation between them."""

import time

import torch
from torch import nn

CODE = "TDL903"
SHAPES = ("1",)
EXPECT = r"synchronisations: 3$"
LEDGER = True


def fault() -> str:
    model = nn.Linear(8, 8).to("cuda")
    batch = torch.ones(1, 8, device="cuda")
    torch.cuda.synchronize()
    begin = time.perf_counter()
    model(batch)
    seconds = time.perf_counter() - begin
    return f"a time was measured: {seconds > 0}"


def repair() -> str:
    model = nn.Linear(8, 8).to("cuda")
    batch = torch.ones(1, 8, device="cuda")
    torch.cuda.synchronize()
    begin = time.perf_counter()
    model(batch)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - begin
    return f"a time was measured: {seconds > 0}"
