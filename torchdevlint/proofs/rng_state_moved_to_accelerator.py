"""TDL112: a random state that a load has moved to the GPU."""

import torch

CODE = "TDL112"
SHAPES = ("1",)
EXPECT = r"RNG state must be a torch.ByteTensor"


def fault() -> None:
    torch.save({"rng": torch.get_rng_state()}, "state.pt")
    state = torch.load("state.pt", map_location="cuda")
    torch.set_rng_state(state["rng"])


def repair() -> str:
    torch.save({"rng": torch.get_rng_state()}, "state.pt")
    state = torch.load("state.pt", map_location="cuda")
    torch.set_rng_state(state["rng"].cpu())
    return "the state is set"
