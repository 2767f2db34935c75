"""The attributes that a tensor has, as PyTorch has them."""

from __future__ import annotations

import pytest

from torchdevlint.stubs.knowledge.tensor_attributes import TENSOR_ATTRIBUTES


def test_the_attributes_are_those_of_the_installed_tensor() -> None:
    torch = pytest.importorskip("torch")
    if not torch.__version__.startswith("2.13"):
        pytest.skip("the table is of torch 2.13")
    assert {name for name in dir(torch.Tensor) if not name.startswith("_")} == TENSOR_ATTRIBUTES
