"""DistributedDataParallel over gloo and nccl's name, two processes on two devices."""

import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel


def tell(line: str) -> None:
    """A line in one piece: both processes write to one pipe."""
    os.write(1, f"{line}\n".encode())


def worker(rank: int, world: int, backend: str, folder: str) -> None:
    dist.init_process_group(backend, init_method=f"file://{folder}/{backend}", rank=rank, world_size=world)
    torch.cuda.set_device(rank)
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Linear(4, 2).cuda(), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.full((2, 4), float(rank + 1), device="cuda")).sum().backward()
        optimizer.step()
    grad = model.module.weight.grad
    total = torch.ones(1, device="cuda") * (rank + 1)
    dist.all_reduce(total)
    tell(f"{backend} {rank} {grad.device} {grad.sum().item()} {total.device} {total.item()}")
    if backend == "nccl":
        try:
            dist.all_reduce(torch.ones(1))
        except RuntimeError as error:
            tell(f"{rank} {error}")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    for backend in sys.argv[2:]:
        mp.spawn(worker, args=(2, backend, sys.argv[1]), nprocs=2)
