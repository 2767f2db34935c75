"""TDL701: a forked worker of a DataLoader cannot use CUDA."""

import torch
from torch.utils.data import DataLoader, Dataset

CODE = "TDL701"
SHAPES = ("1",)
EXPECT = r"Cannot re-initialize CUDA in forked subprocess"


class Faulty(Dataset):
    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.ones(2).to("cuda")


class Repaired(Dataset):
    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.ones(2)


def fault() -> None:
    torch.zeros(1, device="cuda")
    for _ in DataLoader(Faulty(), num_workers=1, multiprocessing_context="fork"):
        pass


def repair() -> str:
    torch.zeros(1, device="cuda")
    loader = DataLoader(Repaired(), num_workers=1, multiprocessing_context="fork")
    return f"the batches are on {next(iter(loader)).to('cuda').device}"
