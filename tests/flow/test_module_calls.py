"""Calls of modules."""

from __future__ import annotations

from types import SimpleNamespace

from torchdevlint.flow.module_calls import _holds_weights
from torchdevlint.program import ir


def test_a_sequential_of_a_longer_body_is_not_looked_up_in_a_shorter_one() -> None:
    made = ir.Call(None, 5, 0, ())
    frame = SimpleNamespace(definitions=[None], values=[None])
    assert not _holds_weights(frame, made)  # type: ignore[arg-type]
