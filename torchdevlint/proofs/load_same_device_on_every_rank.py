"""TDL104: the second rank of a job reads the checkpoint onto the first rank's GPU."""

from pathlib import Path

import torch
import torch.distributed as dist

from torchdevlint.proofs._checkpoints import checkpoint_from

CODE = "TDL104"
SHAPES = ("2",)
EXPECT = r"rank 1 reads onto cuda:0"


RANK = 1


def join() -> None:
    """A process group of one: what the second rank does does not depend on the first."""
    store = Path("store").resolve().as_uri()
    dist.init_process_group("gloo", init_method=store, rank=0, world_size=1)


def fault() -> str:
    join()
    checkpoint_from("cuda:1", {"weight": torch.ones(2)}, "model.pt")
    state = torch.load("model.pt", map_location="cuda:0")
    return f"rank {RANK} reads onto {state['weight'].device}"


def repair() -> str:
    join()
    checkpoint_from("cuda:1", {"weight": torch.ones(2)}, "model.pt")
    state = torch.load("model.pt", map_location="cpu")
    return f"rank {RANK} reads onto {state['weight'].device}"
