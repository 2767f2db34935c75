"""Batches of which the program moves a part by its name: they are dicts, and no tensors themselves."""

from __future__ import annotations

import pytest

from torchdevlint import check_source

LOOP = """import torch
from torch.utils.data import DataLoader
from other import make_model, dataset

model = make_model().cuda()
for i, batch, truth in DataLoader(dataset()):
    {moved}
    model(batch)
"""


@pytest.mark.parametrize(
    ("moved", "is_told"),
    [
        ('batch["x"] = batch["x"].cuda(); batch["y"] = batch["y"].cuda()', False),
        ("pass", True),
        ("batch[0] = 1", True),
    ],
)
def test_a_batch_is_no_tensor_where_it_has_named_parts(moved: str, is_told: bool) -> None:
    found = check_source(LOOP.format(moved=moved))
    assert any(one.code == "TDL401" for one in found) == is_told
