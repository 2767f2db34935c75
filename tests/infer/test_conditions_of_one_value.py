"""Two conditions on one setting of a program, under the one of which a model is moved, and under the other one called."""

from __future__ import annotations

import pytest

from torchdevlint import check_source

PROGRAM = """
import argparse
import os
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--mode")
args = parser.parse_args()
model = nn.Linear(3, 3)
if {first}:
    model.cuda()
if {second}:
    model(torch.rand(2, 3))
"""
EXCLUDED = [
    pytest.param("args.mode > 0", "args.mode == 0", id="a number is not more and less"),
    pytest.param("args.mode > 4", "args.mode < 2", id="a number is in no range that ends before"),
    pytest.param("args.mode > -1", "args.mode == -1", id="a number that is not one lies elsewhere"),
    pytest.param("args.mode >= 0", "args.mode is None", id="what is compared is not None"),
    pytest.param("args.mode", "args.mode is None", id="what is true is not None"),
    pytest.param('args.mode == "train"', "not args.mode", id="a text that is equal to one is true"),
    pytest.param("len(args.mode) > 1", "len(args.mode) == 1", id="a length is one number"),
    pytest.param("len(args.mode) > 1", "not args.mode", id="an empty list has no length"),
    pytest.param(
        'args.mode == "train" and args.rank > 1',
        'args.mode == "export" or args.rank < 1',
        id="one of two things holds, and neither can",
    ),
    pytest.param('(args.mode or "none") == "train"', '(args.mode or "none") == "none"', id="what stands for nothing"),
    pytest.param(
        'os.environ.get("MODE", "cpu") == "cuda"',
        'os.environ.get("MODE", "cpu") == "cpu"',
        id="a variable of the environment",
    ),
    pytest.param(
        'int(os.environ.get("WORLD_SIZE", 1)) > 1',
        'int(os.environ["WORLD_SIZE"]) < 2',
        id="a whole number lies between no two others",
    ),
]
POSSIBLE = [
    pytest.param(
        'args.mode.startswith("train")',
        'args.mode.endswith("large")',
        id="a text that begins with one and ends with another",
    ),
    pytest.param('args.mode > "1.4"', 'args.mode < "1.5"', id="a text between two others"),
    pytest.param("args.mode > 0", "args.mode < 4", id="two ranges that have a number in common"),
    pytest.param("args.mode > 1", "args.mode < 2", id="a number between two others"),
    pytest.param("args.mode is not None", "args.mode == 0", id="what is not None"),
    pytest.param("not args.mode", "args.mode is not None", id="what is false without being None"),
    pytest.param(
        'args.mode == "train" and args.rank > 1',
        'args.mode == "export" or args.rank > 3',
        id="one of two things holds, and one of them can",
    ),
]


def told(first: str, second: str, level: str) -> list[str]:
    found = check_source(PROGRAM.format(first=first, second=second), "train.py", level=level, ignore=["TDL8"])
    return [one.code for one in found]


@pytest.mark.parametrize(("first", "second"), EXCLUDED)
def test_what_no_value_meets_both_of_brings_nothing_together(first: str, second: str) -> None:
    assert told(first, second, "info") == []


@pytest.mark.parametrize(("first", "second"), POSSIBLE)
def test_what_a_value_may_meet_both_of_is_told(first: str, second: str) -> None:
    assert told(first, second, "warning") == ["TDL401"]
