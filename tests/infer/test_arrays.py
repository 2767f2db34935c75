"""Arrays of NumPy: how many dimensions they have is what tells whether a tensor that is made of them may meet others."""

from __future__ import annotations

import ast

import pytest

from torchdevlint.infer.analysis import analyse
from torchdevlint.infer.relevance import is_worth_telling
from torchdevlint.program import from_ast

HEAD = """
import numpy as np
import pandas as pd
import torch
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_class_weight

y = np.random.randint(0, 3, 100)
grid = np.random.rand(4, 3)
frame = pd.read_csv("rows.csv")
x = torch.randn(4, 3, device="cuda")
"""


@pytest.mark.parametrize(
    ("array", "has_dimension"),
    [
        ("np.bincount(y)", True),
        ("len(y) / (3 * np.bincount(y))", True),
        ("np.bincount(y).sum()", False),
        ("np.bincount(y)[0]", False),
        ("np.bincount(y).sum(axis=0)", False),
        ("np.bincount(y).sum(axis=0, keepdims=True)", True),
        ("np.eye(3)[y]", True),
        ("np.eye(3)[y].mean(axis=0)", True),
        ("np.mean(np.eye(3)[y], axis=(0, 1))", False),
        ("np.mean(np.eye(3)[y], 0)", True),
        ("grid.std(0)", True),
        ("grid[0]", True),
        ("grid[0, 1]", False),
        ("grid[:, 1]", True),
        ("grid[0].max()", False),
        ("grid.reshape(-1)", True),
        ("grid.ravel()[2]", False),
        ("np.percentile(grid, 50)", False),
        ("np.percentile(grid, 50, axis=0)", True),
        ("np.percentile(grid, [5, 95])", True),
        ("np.stack([grid.mean(), grid.std()])", True),
        ("np.concatenate([np.eye(3), np.eye(3)]).mean(1)", True),
        ("np.linalg.norm(grid)", False),
        ("np.linalg.norm(grid, axis=1)", True),
        ("np.sqrt(grid.var())", False),
        ("np.sqrt(grid.var(0))", True),
        ("grid @ grid.T", True),
        ("grid[0] @ grid[1]", False),
        ("np.unique(y, return_counts=True)[1]", True),
        ("np.unique(y, return_counts=True)[1] / len(y)", True),
        ("np.where(y > 1)[0]", True),
        ("np.where(y > 1)[0][0]", False),
        ("grid.mean(0).tolist()", True),
        ("compute_class_weight('balanced', classes=np.unique(y), y=y)", True),
        ("frame['a'].values", True),
        ("frame[['a', 'b']].values.mean(0)", True),
        ("frame['a'].to_numpy().mean()", False),
        ("StandardScaler().fit(grid).mean_", True),
        ("train_test_split(grid, test_size=0.5)[0][0]", True),
        ("train_test_split(grid, y)[2][0]", False),
    ],
)
def test_a_tensor_of_an_array_has_its_dimensions(array: str, has_dimension: bool) -> None:
    for text in (f"x + torch.tensor({array})\n", f"def run():\n    return x + torch.tensor({array})\n\nrun()\n"):
        faults = [one for one in analyse(from_ast.lower(ast.parse(HEAD + text))).decided() if is_worth_telling(one)]
        assert [one.verdict for one in faults] == ["broken"] * has_dimension


@pytest.mark.parametrize(
    ("loss", "is_told"),
    [
        ("torch.nn.CrossEntropyLoss(weight=torch.tensor(given))", True),  # it takes one for each class
        ("torch.nn.BCELoss(weight=torch.tensor(given))", True),  # which expands it
        ("torch.nn.BCEWithLogitsLoss(pos_weight=torch.tensor(given))", False),  # a number may be on the CPU
        ("torch.nn.BCEWithLogitsLoss(pos_weight=torch.tensor(given[:3]))", True),
    ],
)
def test_the_weight_of_a_loss_is_a_number_where_the_loss_multiplies_by_it(loss: str, is_told: bool) -> None:
    text = f"{HEAD}\ndef run(given):\n    return {loss}(x, x)\n\nrun(frame.loss)\n"
    faults = [one for one in analyse(from_ast.lower(ast.parse(text))).decided() if is_worth_telling(one)]
    assert bool(faults) is is_told


def test_an_array_that_grows_in_a_loop_is_followed_to_an_end() -> None:
    text = "\nfor turn in range(9):\n    grid = grid[None]\nx + torch.tensor(grid)\n"
    faults = [one for one in analyse(from_ast.lower(ast.parse(HEAD + text))).decided() if is_worth_telling(one)]
    assert [one.verdict for one in faults] == ["broken"]
