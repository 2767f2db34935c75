"""Arrays of NumPy: how many dimensions they have is what tells whether a tensor that is made of them may meet others."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from torchdevlint.infer.analysis import analyse
from torchdevlint.infer.relevance import is_worth_telling
from torchdevlint.infer.values import Tensor, alternatives, least
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


# Expressions of NumPy, of `y` (1 dimension), `grid` (2) and `cube` (3).
OF_NUMPY = """
np.arange(3) np.linspace(0,1,4) np.eye(3) np.outer(y,y) np.tri(3) np.argwhere(y>1) np.flatnonzero(y>1) np.diag(y)
np.diag(grid) np.diff(y) np.tril(grid) np.atleast_1d(3.0) np.atleast_2d(y) np.atleast_3d(y) np.vstack([y,y])
np.hstack([y,y]) np.column_stack([y,y]) np.dstack([grid,grid]) np.pad(y,1) np.ravel(grid) np.sort(grid)
np.argsort(grid,axis=0) np.clip(grid,0,1) np.round(3.7) np.isnan(grid) np.flip(grid) np.transpose(cube)
np.zeros_like(cube) np.interp(0.5,y,y) np.digitize(0.5,np.linspace(0,1,4)) np.searchsorted(np.arange(3),1)
np.searchsorted(np.arange(3),y) np.log(grid+1) np.maximum(grid,y[:3]) np.maximum(1,2) np.where(grid>0,grid,0)
np.sum(grid) np.sum(grid,axis=0) np.sum(cube,axis=(0,1)) np.sum(cube,(0,1),keepdims=True) np.mean(y,0) np.std(cube,1)
np.argmax(grid,1) np.median(grid,axis=0) np.average(grid,axis=1) np.percentile(grid,[5,95])
np.percentile(grid,[5,95],axis=0) np.percentile(grid,50,0) np.linalg.norm(grid,axis=(0,1)) np.cumsum(grid)
np.cumsum(grid,axis=0) np.cumsum(grid,0) np.repeat(grid,2) np.repeat(grid,2,axis=0) np.append(grid,grid)
np.append(grid,grid,axis=0) np.delete(grid,0) np.delete(grid,0,axis=0) np.insert(grid,0,1) np.insert(grid,0,1,0)
np.unique(grid) np.unique(grid,axis=0) np.take(y,3) np.take(grid,[0,1]) np.take(grid,0,axis=0)
np.reshape(grid,(2,3,2)) np.broadcast_to(y[:3],(4,3)) np.concatenate([grid,grid])
np.concatenate([grid,grid],axis=None) np.stack([y,y]) np.stack([grid,grid],axis=1) np.expand_dims(y,0)
np.expand_dims(y,(0,1)) np.tile(y,2) np.tile(y,(2,2)) np.matmul(grid,grid.T) np.dot(y,y) np.meshgrid(y,y)[0]
np.meshgrid(*[y,y])[0] np.histogram(y)[0] np.unique(y,return_counts=True)[1] np.where(grid>0)[0] np.nonzero(y)[0]
np.split(y,2)[0] np.random.rand() np.random.rand(3) np.random.rand(3,4) np.random.normal() np.random.normal(0,1,3)
np.random.normal(size=(3,4)) np.random.randint(5) np.random.randint(0,5,(2,2)) np.random.choice(5)
np.random.choice(5,3) np.random.permutation(5) np.random.uniform(0,1,4) np.zeros(3) np.zeros((3,4)) np.full((2,),1.0)
np.array([1,2]) np.array([[1,2]]) np.array(3) np.asarray(grid) np.float32(1.5) np.squeeze(grid) np.cov(grid)
grid.sum() grid.sum(0) grid.mean(axis=1) grid.max(axis=(0,1)) cube.trace() grid.trace() grid.cumsum() grid.cumsum(0)
grid.ravel() grid.flatten() grid.astype(int) grid.reshape(2,6) grid.reshape(-1) grid.reshape((2,6)) grid.repeat(2)
grid.repeat(2,axis=0) y.dot(y) grid.dot(grid.T) grid.T grid.take(3) grid.take([1,2]) grid.diagonal() y.searchsorted(3)
grid.round() grid.squeeze() grid.copy() grid.transpose() grid[0] grid[0,1] grid[:,1] grid[:,None] grid[None]
grid[...,0] grid[y>2] grid[[0,1]] grid[np.array([0,1]),np.array([0,1])] grid[grid>0] cube[0] cube[0,0] cube[:,0,1]
cube[y[:2]] np.eye(3)[y] np.eye(3)[np.array([[0,1],[1,2]])] grid+y[:3] grid*2 2/y y@y grid@grid.T cube@cube -y y>2
"""


@pytest.mark.parametrize("expression", OF_NUMPY.split())
def test_the_dimensions_are_those_that_numpy_gives(expression: str) -> None:
    """Run by NumPy: what is said for certain is so, and what is said at least is less or as much."""
    head = "import numpy as np\ny = np.array([0, 1, 2, 1])\ngrid = np.ones((4, 3))\ncube = np.ones((4, 3, 3))\n"
    names: dict[str, object] = {}
    exec(f"{head}found = {expression}", names)  # the expressions above alone
    actual = np.ndim(names["found"])  # type: ignore[arg-type]
    text = f"import torch\n{head}made = torch.tensor({expression})\n"
    analysis = analyse(from_ast.lower(ast.parse(text)))
    run = analysis.kept.runs[analysis.unit]
    assert run is not None
    made = run.heap[analysis.unit.globals].fields[".made"]
    for one in alternatives(made):
        assert isinstance(one, Tensor)
        assert one.rank == actual if one.rank is not None and one.rank >= 0 else least(one.rank) <= actual
