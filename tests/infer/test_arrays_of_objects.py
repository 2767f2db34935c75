"""Arrays of objects keep tensors as lists do; arrays of numbers read them."""

from __future__ import annotations

import ast

import pytest

from torchdevlint.infer.analysis import analyse
from torchdevlint.program import from_ast

HEAD = "import numpy as np\nimport other\nimport torch\n\nx = torch.ones(3, device='cuda')\n"


@pytest.mark.parametrize(
    "made",
    [
        "np.empty(2, dtype=object)",
        "np.zeros((2,), object)",
        "np.full(2, None)",
        "np.full(shape=2, fill_value=None, dtype=object)",
        "np.full(2, fill_value=0, dtype='O')",
        "np.array(object=[1, 2], dtype=object)",
        "np.asarray(a=[1, 2], dtype=np.object_)",
        "np.array([1, 2], dtype=other.kind)",
    ],
)
def test_an_array_of_objects_keeps_tensors(made: str) -> None:
    text = f"{HEAD}rows = {made}\nrows[0] = x\nx + rows[0]\n"
    assert analyse(from_ast.lower(ast.parse(text))).decided() == []


@pytest.mark.parametrize("made", ["np.empty(3)", "np.zeros((2, 3), dtype=np.float32)", "np.full((2, 3), 0.0, 'f4')"])
def test_an_array_of_numbers_reads_them(made: str) -> None:
    text = f"{HEAD}rows = {made}\nrows[0:1] = x\n"
    assert [fault.kind for fault in analyse(from_ast.lower(ast.parse(text))).decided()] == ["host"]


def test_what_an_array_of_objects_keeps_meets_others() -> None:
    text = f"{HEAD}rows = np.empty(2, dtype=object)\nrows[0] = x\nrows[0] + torch.ones(3)\n"
    assert [fault.verdict for fault in analyse(from_ast.lower(ast.parse(text))).decided()] == ["broken"]
