"""Where a rule gives a note instead of a warning: the line may be meant so."""

from __future__ import annotations

from torchdevlint import check_source

GPU_TEST = """\
import torch
from torch import nn


def test_forward_on_the_gpu():
    model = nn.Linear(2, 2).cuda()
    assert model is not None
"""


def test_a_note_is_shown_on_demand() -> None:
    assert check_source(GPU_TEST) == ()
    assert [finding.code for finding in check_source(GPU_TEST, level="info")] == ["TDL801"]
