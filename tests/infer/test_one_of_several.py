"""What a call makes where one of several things is called: each makes objects of its own."""

from __future__ import annotations

import pytest

from torchdevlint import check_source

TEXT = """\
import torch


class Search:
    def __init__(self, model, cuda=False):
        self.model = model
        self.cuda = cuda

    def run(self, n, words):
        scores = torch.zeros(n)
        active = torch.arange(n)
        if self.cuda:
            scores, active = scores.cuda(), active.cuda()
        found = scores.view(-1, 2) + self.model(words)
        {made}
        return active.masked_select(index.view(-1) > 0)


def translate(search, n):
    words = torch.zeros(n)
    if search.cuda:
        words = words.cuda()
    return search.run(n, words)
"""


@pytest.mark.parametrize(
    "made",
    ["index = found", "_, index = found.topk(2, dim=1)", "_, index = torch.max(found, 1)", "index = found.chunk(2)[0]"],
)
def test_the_flag_that_moves_two_things_moves_what_is_made_of_them(made: str) -> None:
    assert [one.code for one in check_source(TEXT.format(made=made)) if one.code != "TDL801"] == []


def test_what_another_flag_moves_is_told() -> None:
    text = TEXT.format(made="_, index = found.topk(2, dim=1)").replace(
        "scores, active = scores.cuda(), active.cuda()", "scores = scores.cuda()"
    )
    assert {one.code for one in check_source(text, level="info")} & {"TDL504", "TDL505"}


BRANCHES = """\
import torch
from torch import nn


class Attack:
    def __init__(self, model, device="cuda"):
        self.model = model
        self.device = device

    def run(self, image):
        if self.device == "cuda":
            self.model = self.model.cuda()
        elif self.device == "cpu":
            self.model = self.model.cpu()
        return self.model.scores(image).to(self.device)


model = nn.Linear(2, 2)
image = torch.zeros(1, 2, device="cuda")
Attack(model, {device}).run(image)
model(image)
"""


@pytest.mark.parametrize(("device", "expected"), [('"cuda"', set()), ('"cpu"', {"TDL401"})])
def test_a_move_on_a_branch_that_is_not_taken_moves_nothing(device: str, expected: set[str]) -> None:
    assert {one.code for one in check_source(BRANCHES.format(device=device))} & {"TDL401"} == expected


NAMED = """\
import numpy as np
import torch


def prepare(image, model):
    if type(image).__name__ == "Tensor":
        image = image.clone()
    elif type(image).__name__ == {name}:
        image = torch.tensor(image)
    return model(image)


prepare({given}, torch.nn.Linear(2, 2).cuda())
"""


@pytest.mark.parametrize(
    ("given", "is_told"), [("torch.zeros(2, device='cuda')", False), ("np.zeros(2)", True)], ids=["tensor", "array"]
)
def test_a_type_that_is_asked_for_by_its_name(given: str, is_told: bool) -> None:
    found = {one.code for one in check_source(NAMED.format(given=given, name='"ndarray"'))}
    assert bool(found & {"TDL401", "TDL504", "TDL505"}) is is_told
