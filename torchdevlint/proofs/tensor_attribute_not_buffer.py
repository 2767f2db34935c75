"""TDL603: a tensor attribute that is no buffer stays behind when the module moves."""

import torch
from torch import nn

CODE = "TDL603"
SHAPES = ("1",)
EXPECT = r"all tensors to be on the same device"


class Faulty(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.mean = torch.zeros(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x - self.mean


class Repaired(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(3), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x - self.mean


class FaultyEntries(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.kept: dict[str, torch.Tensor] = {}

    def keep(self, name: str) -> None:
        self.kept[name] = self.layer.weight.detach().clone()

    def change(self, name: str) -> torch.Tensor:
        return self.layer.weight - self.kept[name]


class RepairedEntries(FaultyEntries):
    def keep(self, name: str) -> None:
        self.register_buffer(name, self.layer.weight.detach().clone(), persistent=False)

    def change(self, name: str) -> torch.Tensor:
        return self.layer.weight - self.get_buffer(name)


def fault() -> None:
    entries = FaultyEntries()
    entries.keep("first")
    try:
        Faulty().to("cuda")(torch.ones(2, 3, device="cuda"))
    except RuntimeError:
        entries.to("cuda").change("first")  # an entry of a dict stays behind as the attribute does


def repair() -> str:
    entries = RepairedEntries()
    entries.keep("first")
    entries.to("cuda").change("first")
    return f"the output is on {Repaired().to('cuda')(torch.ones(2, 3, device='cuda')).device}"
