"""What a container of modules holds is a module, also where only a caller knows which: it goes where the container goes."""

from __future__ import annotations

import ast

import pytest

from torchdevlint.infer.analysis import analyse
from torchdevlint.program import from_ast
from torchdevlint.rules.policy import row_of

HEAD = """
import torch
from torch import nn

class Held(nn.Module):
    def __init__(self, given, layers, first, one, table, plain):
        super().__init__()
        self.listed = nn.ModuleList(given)
        self.made = nn.ModuleList([layer for layer in layers])
        self.filled = nn.ModuleList()
        self.filled.append(one)
        self.several = nn.Sequential(first, nn.ReLU())
        self.named = nn.ModuleDict(table)
        self.plain = plain

    def forward(self, x, key):
"""


def told(body: str) -> list[str]:
    """The codes of what is told of the lines of a `forward`."""
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return [row_of(fault).code for fault in analyse(from_ast.lower(ast.parse(HEAD + lines))).decided()]


@pytest.mark.parametrize(
    "body",
    [
        "return self.listed[0](x) + torch.zeros(3)",
        "out = torch.zeros(3)\nfor one in self.listed:\n    out += one(x)\nreturn out",
        "out = torch.zeros(3)\nfor one in self.made:\n    out = out + one(x)\nreturn out",
        "out = torch.zeros(3)\nfor at, one in enumerate(self.filled):\n    out = out + one(x)\nreturn out",
        "return self.several[0](x) + torch.zeros(3)",
        "return self.several(x) + torch.zeros(3)",
        "return self.listed[0](x)[0] + torch.zeros(3)",
        "total = torch.zeros(3)\nfor one in self.listed:\n    x, more = one(x)\n    total += more\nreturn x, total",
    ],
)
def test_what_it_gives_is_where_the_module_is(body: str) -> None:
    found = told(body)
    assert found and set(found) <= {"TDL504", "TDL515"}


@pytest.mark.parametrize(
    "body",
    [
        "return self.listed[0](x) + torch.zeros(3, device=x.device)",
        "return self.listed[0](x) + x",
        "out = 0\nfor one in self.listed:\n    out = out + one(x)\nreturn out",
        "return self.several(x) * self.listed[0](x)",
        "return self.listed[0](x).cpu() + torch.zeros(3)",
        "return len(self.listed) * torch.zeros(3)",
        "total = torch.tensor(0.0)\nfor one in self.listed:\n    x, more = one(x)\n    total = total + more\nreturn x, total",
    ],
)
def test_what_meets_it_there_or_is_no_tensor_is_no_fault(body: str) -> None:
    assert told(body) == []


def test_what_a_plain_attribute_holds_may_be_no_module() -> None:
    assert told("return self.plain(x) + torch.zeros(3)") == []
