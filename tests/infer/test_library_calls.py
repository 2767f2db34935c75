"""What calls of torch, NumPy and Python's library do with devices, call by call. Each line was run on a virtual GPU machine: it fails there where it is marked."""

from __future__ import annotations

import ast

import pytest

from torchdevlint.infer.analysis import analyse
from torchdevlint.program import from_ast

IMPORTS = """
import copy, io, itertools, operator
from collections import UserDict, defaultdict, deque

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

t = torch.ones(4, 4, device="cuda")
v = torch.ones(4, device="cuda")
i = torch.zeros(4, dtype=torch.long, device="cuda")
c = torch.ones(4, 4)
w = torch.ones(4)
n = torch.tensor(0.5)
"""

# Each case: its lines, in which `# fault` marks where tensors meet that must not.
CASES = {
    "reductions to a number, which may meet tensors on a GPU": """
        t * c.mean((0, 1))
        t * c.mean(dim=[0, 1])
        t * c.mean(1)  # fault
        t * w.mean(dim=0)
        t * w.mean(dim=0, keepdim=True)  # fault
        t * c.max(1).values  # fault
        t * w.max(0).values
        t * w.max(0)[1]
        t * torch.std_mean(w)[0]
        t * torch.var_mean(c, dim=1)[1]  # fault
        t * c.std(keepdim=True)  # fault
        t * torch.quantile(w, 0.5)
        t * c.count_nonzero()
        t * torch.linalg.norm(c)
        t * torch.linalg.vector_norm(c, dim=1)  # fault
        t * torch.linalg.matrix_norm(c)
        t * torch.linalg.det(c)
        t * torch.linalg.svdvals(c)  # fault
        t * torch.linalg.svd(c).S[0]
    """,
    "products of vectors are numbers": """
        t * w.dot(w)
        t * (w @ w)
        t * torch.matmul(w, w)
        t * (c @ w)  # fault
        t * torch.inner(w, w)
        t * torch.outer(w, w)  # fault
        t * torch.einsum("i,i->", w, w)
        t * torch.einsum("i,i->i", w, w)  # fault
        t * torch.dist(w, w)
        t * F.cosine_similarity(w, w, dim=0)
        t * F.cosine_similarity(c, c)  # fault
        t * F.pairwise_distance(w, w)
    """,
    "items of what has one dimension": """
        t * c.flatten()[0]
        t * torch.cat([w, w])[0]
        t * torch.cat([c, c])[0]  # fault
        t * torch.vstack([w, w])[0]  # fault
        t * c.view(-1)[0]
        t * c.take(torch.tensor(1))
        t * c.diagonal()[0]
        t * c.select(0, 1)  # fault
        t * w.unbind()[0]
        t * c.unbind()[0]  # fault
    """,
    "losses are numbers, but without a reduction": """
        t + F.mse_loss(c, c)
        t + F.mse_loss(c, c, reduction="none")  # fault
        t + F.triplet_margin_loss(c, c, c)
        t + F.margin_ranking_loss(w, w, w)
        t + F.poisson_nll_loss(c, c, reduction="none")  # fault
        t + nn.MSELoss()(c, c)
        t + nn.MSELoss(reduction="none")(c, c)  # fault
        t + nn.CosineSimilarity(dim=0)(w, w)
        t + nn.CosineSimilarity()(c, c)  # fault
    """,
    "a number and a number in a loss": """
        F.mse_loss(t.sum(), n)
        F.mse_loss(t, n)  # fault
        F.mse_loss(t.sum(), w)  # fault
        F.smooth_l1_loss(n, t.sum())
        F.huber_loss(t.sum(), n)  # fault
        F.kl_div(t, n)
        F.kl_div(t, c)  # fault
        nn.MSELoss()(t.sum(), n)
        nn.MSELoss()(t, n)  # fault
        nn.L1Loss()(t.sum(), n)
        nn.HuberLoss()(t.sum(), n)  # fault
        nn.BCELoss()(t.sum() * 0, n)
    """,
    "operators that let a number through, or not": """
        torch.isclose(t, n)
        torch.isclose(t, w)  # fault
        torch.float_power(t, n)
        t.ldexp(n)
        torch.addcmul(t, t, n)
        torch.addcmul(t, n, t)  # fault
        torch.addcdiv(t, t, n)  # fault
        t.masked_fill(t > 0, n)
        t.masked_fill(n > 0, 1.0)  # fault
        t.clamp(max=n)  # fault
        torch.narrow(t, 0, torch.tensor(1), 2)
    """,
}


@pytest.mark.parametrize("lines", CASES.values(), ids=CASES)
def test_what_is_found(lines: str) -> None:
    text = IMPORTS + "\n".join(line[8:] for line in lines.splitlines())
    program = from_ast.lower(ast.parse(text))
    expected = [row for row, line in enumerate(text.splitlines(), start=1) if "# fault" in line]
    found = sorted(
        {fault.site.op.node.lineno for fault in analyse(program).decided() if fault.site.op.node is not None}
    )
    assert found == expected
