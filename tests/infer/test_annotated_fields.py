"""What the annotations of a class of the project say of the fields of an object that a function is given."""

from __future__ import annotations

import pytest

from torchdevlint import check_source

HEAD = """
from dataclasses import dataclass
from typing import List, NamedTuple, Optional
import torch

@dataclass
class Batch:
    x: torch.Tensor
    mask: Optional[torch.Tensor] = None
    name: str = ""

@dataclass
class Pages:
    items: List[Batch]

@dataclass(frozen=True)
class Fixed:
    x: torch.Tensor

class Row(NamedTuple):
    x: torch.Tensor
    n: int
"""


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("def run(b: Batch, device):\n    b.x.to(device)\n    return b.x\n", {"TDL501": True}),
        ("def run(b: Batch, device):\n    b.mask.to(device)\n    return b.mask\n", {"TDL501": True}),
        ("def run(b: Batch, device):\n    b.name.to(device)\n    return b.name\n", {}),
        ("def run(b, device):\n    b.x.to(device)\n    return b.x\n", {}),
        (
            "def run(p: Pages, device):\n    for b in p.items:\n        v = b.x\n        v.to(device)\n        print(v)\n",
            {"TDL501": True},
        ),
        ("def run(rows: list[Row], device):\n    for row in rows:\n        row.x.to(device)\n", {"TDL501": False}),
        ("def run(f: Fixed, device):\n    f.x.to(device)\n    return f.x\n", {"TDL501": False}),
        ("def run(b: Batch):\n    return b.x * torch.arange(3)\n", {"TDL504": True}),
        ("def run(row: Row):\n    return row.n * torch.arange(3)\n", {}),
    ],
)
def test_a_field_is_what_its_class_says(lines: str, found: dict[str, bool]) -> None:
    """By the codes that are told, whether there is a fix."""
    told = {one.code: one.fix is not None for one in check_source(HEAD + lines, level="info")}
    assert told.keys() == found.keys()
    assert all(told[code] is has_fix for code, has_fix in found.items() if code == "TDL501")


GENERATOR = """
from dataclasses import dataclass

@dataclass
class Buffer:
    storage: torch.device
    size: int = 3

    def __post_init__(self):
        self.storage = torch.device(self.storage)
        self.gen = torch.Generator(DEVICE)

    def sample(self, n):
        return torch.randint(self.size, (n,), generator=self.gen, device=self.storage)
"""


@pytest.mark.parametrize(("device", "count"), [("", 1), ("device=self.storage", 0)])
def test_what_the_constructor_of_a_dataclass_is_given(device: str, count: int) -> None:
    found = check_source("import torch\n" + GENERATOR.replace("DEVICE", device))
    assert [one.code for one in found] == ["TDL513"] * count
