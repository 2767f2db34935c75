"""What the cases share."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from torchdevlint.machine.errors import WORDING

ACCELERATOR_ERROR = getattr(torch, "AcceleratorError", RuntimeError)  # newer torch


@contextmanager
def raises(kind: type[BaseException], text: str) -> Iterator[list[BaseException]]:
    """The body raises exactly this kind, and the message contains the text. Gives a list with the error."""
    caught: list[BaseException] = []
    try:
        yield caught
    except kind as error:
        assert text in str(error), f"expected {text!r}, got {error}"
        caught.append(error)
    else:
        raise AssertionError(f"nothing was raised; expected {kind.__name__}: {text}")


def same_device(text: str = "") -> object:
    """The common case of `raises`."""
    return raises(RuntimeError, "Expected all tensors to be on the same device" + text)


def exact(argument: str, where: str, common: str, method: str) -> object:
    """The refusal of a CUDA wrapper, in the wording of the installed library."""
    if WORDING.different_from_others:
        return same_device(
            f", but got {argument} is on {where}, different from other tensors on {common} (when checking argument in "
            f"method {method})"
        )
    return same_device(
        f", but found at least two devices, {common} and {where}! (when checking argument for argument {argument} in "
        f"method {method})"
    )
