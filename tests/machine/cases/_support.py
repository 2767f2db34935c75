"""What the cases share."""

from collections.abc import Iterator
from contextlib import contextmanager


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
