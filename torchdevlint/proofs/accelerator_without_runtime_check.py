"""TDL804: the accelerator of the build is no accelerator of the machine."""

import torch

CODE = "TDL804"
SHAPES = ("cpu", "no-driver", "hidden")
EXPECT = r"NVIDIA driver|No CUDA GPUs|'NoneType' object has no attribute 'type'"


def fault() -> None:
    device = torch.accelerator.current_accelerator().type
    torch.ones(2).to(device)


def repair() -> str:
    device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    return f"moved to {torch.ones(2).to(device).device}"
