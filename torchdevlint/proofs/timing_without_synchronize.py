"""TDL903: two readings of the clock with no synchronisation between them."""

import time

import torch

CODE = "TDL903"
SHAPES = ("1",)
EXPECT = r"synchronisations: 0$"
LEDGER = True


def fault() -> None:
    x = torch.ones(8, 8, device="cuda")
    begin = time.perf_counter()
    x @ x
    time.perf_counter() - begin


def repair() -> None:
    x = torch.ones(8, 8, device="cuda")
    begin = time.perf_counter()
    x @ x
    torch.cuda.synchronize()
    time.perf_counter() - begin
