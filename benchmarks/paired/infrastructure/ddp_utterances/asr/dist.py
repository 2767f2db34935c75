"""Thin helpers around torch.distributed; everything also works in one process."""
import os

import torch
import torch.distributed as dist


def rank():
    return int(os.environ.get("RANK", 0))


def local_rank():
    return int(os.environ.get("LOCAL_RANK", 0))


def world_size():
    return int(os.environ.get("WORLD_SIZE", 1))


def is_main():
    return rank() == 0


def setup():
    use_cuda = torch.cuda.is_available()
    if use_cuda:
        torch.cuda.set_device(local_rank())
    if world_size() > 1:
        dist.init_process_group("nccl" if use_cuda else "gloo")
    return torch.device("cuda", local_rank()) if use_cuda else torch.device("cpu")


def wrap(model, device):
    if world_size() == 1:
        return model
    ids = [local_rank()] if device.type == "cuda" else None
    return torch.nn.parallel.DistributedDataParallel(model, device_ids=ids)


def all_reduce_sum(t):
    if world_size() > 1:
        dist.all_reduce(t)
    return t


def cleanup():
    if dist.is_initialized():
        dist.destroy_process_group()
