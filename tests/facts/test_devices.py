"""The device lattice and the joins of values."""

from __future__ import annotations

import pytest

from torchdevlint.facts import values
from torchdevlint.facts.devices import CPU, META, TOP, Device, from_string, symbolic
from torchdevlint.facts.values import AT_LEAST_ONE, NONE, UNKNOWN, Evidence, Kind, Value, tensor
from torchdevlint.program import ir

CUDA, CUDA0, CUDA1, MPS = Device("acc", "cuda"), Device("acc", "cuda:0"), Device("acc", "cuda:1"), Device("acc", "mps")
X = symbolic("x.device")


@pytest.mark.parametrize(
    ("text", "device"),
    [
        ("cpu", CPU),
        ("cuda", CUDA),
        ("cuda:1", CUDA1),
        ("meta", META),
        ("gpu", TOP),
        ("", TOP),
        ("cuda:x", TOP),
        ("mps", MPS),
    ],
)
def test_device_strings(text: str, device: Device) -> None:
    assert from_string(text) == device


def made() -> ir.Op:
    return ir.Opaque(None, 0)


def test_a_fresh_tensor_joined_with_its_own_moved_self_is_silent() -> None:
    origin = made()
    fresh = tensor(CPU, origin=origin, rank=1, evidence=Evidence.STRONG)
    moved = values.replace(fresh, device=X, moved=made())
    joined = values.join(fresh, moved)
    assert not any(part.is_fresh_cpu for part in joined.parts)
    assert all(part.device is TOP for part in joined.parts)


def test_a_fresh_tensor_joined_with_another_one_keeps_both() -> None:
    fresh = tensor(CPU, origin=made(), rank=1, evidence=Evidence.STRONG)
    other = tensor(X, rank=2, evidence=Evidence.STRONG)
    joined = values.join(other, fresh)
    assert [part.device for part in joined.parts] == [X, CPU]
    assert [part.rank for part in joined.parts] == [2, 1]


def test_the_same_tensor_by_two_ways_keeps_what_both_say() -> None:
    joined = values.join(tensor(X, rank=1, evidence=Evidence.STRONG), tensor(X, rank=2, evidence=Evidence.USAGE))
    assert joined.others == ()
    assert (joined.rank, joined.evidence) == (AT_LEAST_ONE, Evidence.USAGE)


def test_none_on_one_path_is_the_other_value() -> None:
    value = tensor(X, evidence=Evidence.STRONG)
    assert values.join(NONE, value) is value
    assert values.join(value, NONE) is value


def test_a_device_chosen_by_a_condition_is_named_when_it_is_stored() -> None:
    joined = values.join(Value(Kind.STRING, CUDA, constant="cuda"), Value(Kind.STRING, CPU, constant="cpu"))
    assert joined.device == Device("sym", "", chosen=True)


def test_different_kinds_are_unknown() -> None:
    assert values.join(Value(Kind.MODULE), Value(Kind.LIST)) == UNKNOWN


def test_replace_changes_only_what_is_named() -> None:
    value = tensor(X, rank=2, evidence=Evidence.STRONG, parameter="x", attribute="a", symbol="s", ref="r")
    copy = values.replace(value, rank=3)
    assert copy.rank == 3 and values.replace(copy, rank=2) == value and value.rank == 2
