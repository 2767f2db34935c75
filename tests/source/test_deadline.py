"""The time of one file is bounded, in any thread."""

from __future__ import annotations

import time

import pytest

from torchdevlint import check_source
from torchdevlint.api import CheckError
from torchdevlint.source import deadline
from torchdevlint.source.deep_stack import call_with_deep_stack

FAULT = "import torch\nx = torch.load('a.pt', map_location='cuda:1')\n"


def _spin() -> None:
    end = time.thread_time() + 30
    while time.thread_time() < end:
        deadline.check()


def test_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(deadline.VARIABLE, "0.05")
    with pytest.raises(deadline.OutOfTime) as caught, deadline.limited():
        _spin()
    assert "more than 0.05 seconds" in caught.value.message
    assert deadline.left() is None


def test_it_ends_on_a_deep_stack_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(deadline.VARIABLE, "0.05")
    with pytest.raises(deadline.OutOfTime), deadline.limited():
        call_with_deep_stack(_spin)


def test_an_inner_block_gives_no_new_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(deadline.VARIABLE, "0.05")
    with pytest.raises(deadline.OutOfTime), deadline.limited(), deadline.limited():
        _spin()


def test_without_a_limit_nothing_ends() -> None:
    for _ in range(1000):
        deadline.check()


def test_a_text_that_takes_too_long_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(deadline.VARIABLE, "0")
    with pytest.raises(CheckError, match="not checked: it took more than 0 seconds"):
        check_source(FAULT * 200, level="info")


def test_a_wrong_value_of_the_variable_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(deadline.VARIABLE, "soon")
    assert deadline.seconds_per_file() == deadline.SECONDS


def test_deep_stacks_nest() -> None:
    assert call_with_deep_stack(lambda: call_with_deep_stack(lambda: 1)) == 1
