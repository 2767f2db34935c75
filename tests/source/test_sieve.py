"""The byte test."""

from __future__ import annotations

import pytest

from torchdevlint.source.sieve import may_have_findings, may_have_suppressions


@pytest.mark.parametrize(
    "text",
    [
        "import torch",
        "from pytorch_lightning import Trainer",
        "import timm",
        "x.to(device)",
        "x.cuda()",
        "f(device_map='auto')",
        "loss.backward()",
        "self.optimizer.zero_grad()",
    ],
)
def test_lets_through(text: str) -> None:
    assert may_have_findings(text.encode())


@pytest.mark.parametrize("text", ["", "import numpy as np\nx.numpy()", "move.to_device()"])
def test_holds_back(text: str) -> None:
    assert not may_have_findings(text.encode())


def test_suppressions() -> None:
    assert may_have_suppressions(b"x = 1  # NOQA")
    assert may_have_suppressions(b"# torchdevlint: ignore")
    assert not may_have_suppressions(b"x = 1  # no reason")
