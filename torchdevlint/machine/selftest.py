"""Checks of what the machine rests on, made before it starts: a torch where one fails is refused, never half-served."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import torch

from torchdevlint.machine.tags import Tag, cuda_device, storage_of

_TAG = Tag(cuda_device(0))


def _tagged() -> Any:
    tensor = torch.ones(3)
    storage_of(tensor)._tdl_tag = _TAG
    return tensor


def _same(tensor: Any) -> bool:
    gc.collect(0)
    return getattr(storage_of(tensor), "_tdl_tag", None) is _TAG


def views_share_the_tag() -> bool:
    view = _tagged()[1:]  # its base is gone: C++ alone holds the storage
    return _same(view)


def data_swap_carries_the_tag() -> bool:
    tensor = torch.zeros(3)
    tensor.data = _tagged()
    return _same(tensor)


def saved_tensors_keep_the_tag() -> bool:
    leaf = torch.ones(3, requires_grad=True)
    product = leaf * _tagged()  # only autograd holds the second factor
    return _same(product.grad_fn._saved_other)


def lists_in_cpp_keep_the_tag() -> bool:
    parameter = torch.nn.Parameter(_tagged())
    return _same(parameter.detach())


def a_fresh_tensor_has_none() -> bool:
    del_me = _tagged()
    del del_me
    return not _same(torch.ones(3))


ASSUMPTIONS: tuple[Callable[[], bool], ...] = (
    views_share_the_tag,
    data_swap_carries_the_tag,
    saved_tensors_keep_the_tag,
    lists_in_cpp_keep_the_tag,
    a_fresh_tensor_has_none,
)


def failed_assumptions() -> list[str]:
    """The names of the assumptions that do not hold here, in words."""
    failed = []
    for assumption in ASSUMPTIONS:
        try:
            holds = assumption()
        except Exception as error:
            failed.append(f"{_words(assumption)} ({type(error).__name__}: {error})")
            continue
        if not holds:
            failed.append(_words(assumption))
    return failed


def _words(assumption: Callable[[], bool]) -> str:
    return assumption.__name__.replace("_", " ")
