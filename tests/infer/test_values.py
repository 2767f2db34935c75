"""The join of values."""

from __future__ import annotations

from itertools import permutations

import pytest

from torchdevlint.infer.values import HOST, MANY, Tensor, join


@pytest.mark.parametrize("ranks", list(permutations((3, 4, MANY))))
def test_tensors_of_one_place_are_one_also_where_one_of_them_is_their_join(ranks: tuple[int, ...]) -> None:
    assert join(*(Tensor(HOST, rank) for rank in ranks)) == Tensor(HOST, MANY)


def test_an_unknown_rank_stays_unknown() -> None:
    assert join(Tensor(HOST, 3), Tensor(HOST, 0), Tensor(HOST, 4)) == Tensor(HOST, None)
