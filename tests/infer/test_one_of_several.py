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
    assert {one.code for one in check_source(text)} & {"TDL504", "TDL505"}
