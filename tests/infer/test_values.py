"""The join of values."""

from __future__ import annotations

from itertools import permutations

import pytest

from torchdevlint.infer.guards import consistent
from torchdevlint.infer.joins import join, one_of
from torchdevlint.infer.tensors import rank_of_data
from torchdevlint.infer.values import HOST, MANY, NOTHING, Const, OneOf, Tensor, Term, Tup, at_least


@pytest.mark.parametrize("ranks", list(permutations((3, 4, MANY))))
def test_tensors_of_one_place_are_one_also_where_one_of_them_is_their_join(ranks: tuple[int, ...]) -> None:
    assert join(*(Tensor(HOST, rank) for rank in ranks)) == Tensor(HOST, MANY)


def test_an_unknown_rank_stays_unknown() -> None:
    assert join(Tensor(HOST, 3), Tensor(HOST, 0), Tensor(HOST, 4)) == Tensor(HOST, None)


def test_an_equal_value_is_told_once_under_what_its_guards_share() -> None:
    first, second = (Term("unknown", "first"), True), (Term("unknown", "second"), False)
    both, one, none = frozenset({first, second}), frozenset({first}), frozenset[tuple[Term, bool]]()
    assert one_of([(both, Const(1)), (one, Const(2)), (one, Const(1))]) == OneOf(((one, Const(1)), (one, Const(2))))
    assert one_of([(both, Const(1)), (none, Const(1))]) == Const(1)


def test_a_condition_comes_out_one_way() -> None:
    asked = Term("unknown", "asked")
    yes, no, other = ({(asked, True)}, {(asked, False)}, {(Term("unknown", "other"), False)})
    assert not consistent(frozenset(yes), frozenset(no | other))
    assert not consistent(frozenset(no | other), frozenset(yes))
    assert consistent(frozenset(yes), frozenset(yes | other))
    assert consistent(frozenset(), frozenset(no))


def test_data_of_which_no_path_gives_any_have_no_known_rank() -> None:
    assert rank_of_data(None, NOTHING) == at_least(0)  # type: ignore[arg-type]


class Counted:
    """A leaf that counts how often it is hashed."""

    hashed = 0

    def __hash__(self) -> int:
        Counted.hashed += 1
        return 1

    def __eq__(self, other: object) -> bool:
        return self is other


def test_the_hash_of_nested_values_is_computed_once_for_each() -> None:
    """A text that twenty `if`s may replace is in its successors twice: what is not kept is computed a million times."""
    value: object = Const(Counted())
    for number in range(20):
        value = Tup((OneOf(((frozenset(), value), (frozenset(), Const(number)))), value))  # type: ignore[arg-type]
    before = Counted.hashed
    hash(value)
    assert Counted.hashed - before <= 1
    assert before <= 40
