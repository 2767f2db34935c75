"""Keywords that are spread into a call may name a device: `torch.zeros(3, **options)`."""

from __future__ import annotations

import pytest

from torchdevlint.infer.analysis import analyse
from torchdevlint.program import from_ast

KEPT = """
import torch

class Attack:
    def __init__(self, model):
        self.options = dict({0}dtype=torch.float)

    def start(self):
        return torch.randn(3, **self.options)

model = torch.nn.Linear(3, 3).cuda()
model(Attack(model).start())
"""


@pytest.mark.parametrize(("given", "told"), [("", ["broken"]), ("device=next(model.parameters()).device, ", [])])
def test_an_object_keeps_the_keywords(given: str, told: list[str]) -> None:
    assert [fault.verdict for fault in analyse(from_ast.read(KEPT.format(given))).decided()] == told


def test_keywords_that_nobody_knows_may_name_a_device() -> None:
    text = "import torch\ndef noisy(x: torch.Tensor, **options):\n    return x + torch.randn(3, 3{})\n"
    assert analyse(from_ast.read(text.format(", **options"))).decided() == []
    assert [fault.verdict for fault in analyse(from_ast.read(text.format(""))).decided()] == ["open"]


def test_keys_that_are_no_texts_are_no_keywords() -> None:
    text = "import torch\ndef given(f):\n    options = {('a', 1): 2, 'b': 3}\n    return f(torch.ones(3), **options)\n"
    assert analyse(from_ast.read(text)).decided() == []
