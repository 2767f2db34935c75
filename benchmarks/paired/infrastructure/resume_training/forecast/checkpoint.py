import random
from pathlib import Path

import torch

LAST = "last.ckpt"


def save(folder, *, model, optimizer, scheduler, epoch, best):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tmp = folder / (LAST + ".tmp")
    torch.save({
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "epoch": epoch,
        "best": best,
        "torch_rng": torch.get_rng_state(),
    }, tmp)
    tmp.replace(folder / LAST)


def load(folder, *, model, optimizer, scheduler):
    """Restores everything in place; returns (first epoch to run, best loss so far)."""
    path = Path(folder) / LAST
    if not path.exists():
        return 0, float("inf")
    state = torch.load(path, map_location="cpu")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    scheduler.load_state_dict(state["scheduler"])
    torch.set_rng_state(state["torch_rng"])
    return state["epoch"] + 1, state["best"]
