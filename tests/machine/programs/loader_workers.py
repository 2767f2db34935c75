"""DataLoader workers: forked and spawned, pinned batches, and a dataset that touches CUDA in a forked worker."""

import sys

import torch
from torch.utils.data import DataLoader, Dataset


class Plain(Dataset):
    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.full((2,), float(index))


class OnGpu(Plain):
    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.zeros(2).cuda()


class Holds(Plain):
    def __init__(self) -> None:
        self.data = torch.zeros(8, 2, device="cuda")

    def __getitem__(self, index: int) -> torch.Tensor:
        return self.data[index]


if __name__ == "__main__":
    torch.zeros(1).cuda()
    for method in ("fork", "spawn"):
        loader = DataLoader(Plain(), batch_size=4, num_workers=2, pin_memory=True, multiprocessing_context=method)
        total = sum(batch.to("cuda", non_blocking=True).sum().item() for batch in loader)
        print(method, total, batch.is_pinned() if (batch := next(iter(loader))) is not None else None)
    for dataset in (OnGpu(), Holds()):
        try:
            next(iter(DataLoader(dataset, num_workers=1)))
        except RuntimeError as error:
            print([line for line in str(error).splitlines() if "Error" in line][-1])
    spawned = next(iter(DataLoader(OnGpu(), num_workers=1, multiprocessing_context="spawn")))
    print("spawned worker gives", spawned.device)
    sys.stdout.flush()
