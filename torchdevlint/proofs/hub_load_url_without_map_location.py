"""TDL107: published weights that were saved on the second GPU."""

from pathlib import Path

import torch

from torchdevlint.proofs._checkpoints import checkpoint_from

CODE = "TDL107"
SHAPES = ("cpu", "1")
EXPECT = r"Attempting to deserialize object on (a )?CUDA device"


def published() -> str:
    checkpoint_from("cuda:1", {"weight": torch.ones(2)}, "published.pt")
    return Path("published.pt").resolve().as_uri()


def fault() -> None:
    torch.hub.load_state_dict_from_url(published(), model_dir="cache", progress=False)


def repair() -> str:
    state = torch.hub.load_state_dict_from_url(published(), model_dir="cache", progress=False, map_location="cpu")
    return f"read onto {state['weight'].device}"
