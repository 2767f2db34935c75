"""Batches of which the program moves a part by its name: they are dicts, and no tensors themselves."""

from __future__ import annotations

import pytest

from torchdevlint import check_source

LOOP = """import torch
import utils


class Runner:
    def __init__(self, conf):
        self.train_dataset = utils.get_class(conf.a)(conf=conf)
        self.train_dataloader = torch.utils.data.DataLoader(self.train_dataset, batch_size=3, shuffle=True, collate_fn=self.train_dataset.collate_fn)
        self.model = utils.get_class(conf.b)(conf=conf)
        if torch.cuda.is_available():
            self.model.cuda()

    def run(self):
        for data_index, (indices, model_input, ground_truth) in enumerate(self.train_dataloader):
            {moved}
            model_outputs = self.model(model_input)
            loss = model_outputs['loss']
            loss.backward()
"""


@pytest.mark.parametrize(
    ("moved", "is_told"),
    [
        ('model_input["uv"] = model_input["uv"].cuda()', False),
        ("ground_truth = ground_truth.cuda()", True),
    ],
)
def test_a_batch_is_no_tensor_where_it_has_named_parts(moved: str, is_told: bool) -> None:
    found = check_source(LOOP.format(moved=moved))
    assert any(one.code == "TDL401" for one in found) == is_told
