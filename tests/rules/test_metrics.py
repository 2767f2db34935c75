"""TDL303: metrics in a container that the class itself moves."""

from __future__ import annotations

import pytest

from torchdevlint import check_source

TASK = """
import torch
from torchmetrics import MeanMetric

class Task(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.losses = {KEPT}

    def start(self, device):
        LOOP

    def step(self, batch):
        self.losses["total"].update(batch.mean())
"""

MOVED = (
    "for one in self.losses.values(): one.to(device)",
    "for name, one in self.losses.items(): one.to(device)",
)
NOT_MOVED = (
    "for one in self.losses.values(): one.reset()",
    "for one in self.others.values(): one.to(device)",
)


def told(loop: str) -> list[str]:
    source = TASK.replace("KEPT", '"total": MeanMetric()').replace("LOOP", loop)
    return [finding.code for finding in check_source(source, select=["TDL303"])]


@pytest.mark.parametrize("loop", MOVED)
def test_what_a_loop_moves_is_not_left_behind(loop: str) -> None:
    assert told(loop) == []


@pytest.mark.parametrize("loop", NOT_MOVED)
def test_another_loop_moves_nothing_of_it(loop: str) -> None:
    assert told(loop) == ["TDL303"]
