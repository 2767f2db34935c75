"""Where a rule gives a note instead of a warning: the line may be meant so."""

from __future__ import annotations

import pytest

from torchdevlint import check_source

GPU_TEST = """\
import torch
from torch import nn


def test_forward_on_the_gpu():
    model = nn.Linear(2, 2).cuda()
    assert model is not None
"""
DRAWING = """\
import torch


def draw(image, boxes: torch.Tensor):
    return [image.crop(corner) for corner in boxes.numpy()]
"""


@pytest.mark.parametrize(("text", "code"), [(GPU_TEST, "TDL801"), (DRAWING, "TDL509")])
def test_a_note_is_shown_on_demand(text: str, code: str) -> None:
    assert check_source(text) == ()
    assert [finding.code for finding in check_source(text, level="info")] == [code]


def test_a_detached_argument_is_a_note() -> None:
    text = DRAWING.replace("boxes.numpy()", "boxes.detach().numpy()")
    assert check_source(text) == ()
    assert [finding.code for finding in check_source(text, level="info")] == ["TDL509"]
