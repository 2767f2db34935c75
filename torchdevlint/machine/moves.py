"""Copies between devices: what `.to`, `.cuda`, `.cpu` and every other move do on the machine."""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd import forward_ad
from torch.nn.parameter import UninitializedTensorMixin  # type: ignore[attr-defined]
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from torchdevlint.machine.dispatch import copy_wrapper, observe_transfer
from torchdevlint.machine.places import user_place
from torchdevlint.machine.state import STATE
from torchdevlint.machine.tags import CPU, WRAPPERS, Tag, device_of, set_tag, tag_of

without_modes = torch._C._DisableTorchDispatch


class ToCopy(torch.autograd.Function):
    """A copy whose gradient goes back to the source's device: C++ believes that both ends are the CPU."""

    generate_vmap_rule = True

    @staticmethod
    def forward(source: Any, device: Any, tag: Any) -> Any:
        return _copy(source, tag)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.source_device = device_of(inputs[0])
        ctx.device = inputs[1]

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return move(gradient, ctx.source_device, cause="backward of a copy"), None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *_: Any) -> Any:
        return move(tangent, ctx.device)


def _copy(source: Any, tag: Tag) -> Any:
    if type(source) in (torch.Tensor, torch.nn.Parameter):
        with without_modes():
            target = STATE.originals["clone"](source)
    else:
        target = source.clone()
    set_tag(target, tag)
    if forward_ad._current_level >= 0:
        tangent = forward_ad.unpack_dual(target, level=0).tangent  # type: ignore[no-untyped-call]
        if tangent is not None:
            set_tag(tangent, tag)
    return target


def move(source: Any, device: Any, non_blocking: bool = False, copy: bool = False, cause: str = "to") -> Any:
    """``source`` on ``device`` (a CPU or CUDA device with index): itself if it is there already, else a copy."""
    origin = device_of(source)
    if origin == device:
        return STATE.originals["clone"](source) if copy else source
    if isinstance(source, UninitializedTensorMixin):
        target = STATE.originals["empty"](0, dtype=source.dtype, device=CPU)
        set_tag(target, Tag(device))
        return target
    if is_traceable_wrapper_subclass(source):
        return _move_inner(source, device, non_blocking, cause)
    if type(source) in WRAPPERS:
        return copy_wrapper(source, device)
    tag = Tag(device, tag_of(source).born, user_place())
    if source.layout != torch.strided:
        return _move_sparse(source, tag)
    if torch.is_grad_enabled() and source.requires_grad:
        target = ToCopy.apply(source, device, tag)  # type: ignore[no-untyped-call]
    else:
        target = _copy(source, tag)
        if target.requires_grad:
            target = target.detach()
    observe_transfer(source, target, non_blocking, cause)
    return target


def _move_inner(source: Any, device: Any, non_blocking: bool, cause: str) -> Any:
    """A wrapper subclass (a jagged tensor, ...) moves by its inner tensors."""
    names, context = source.__tensor_flatten__()
    inner = {name: move(getattr(source, name), device, non_blocking, cause=cause) for name in names}
    return type(source).__tensor_unflatten__(inner, context, source.size(), source.stride())


def _move_sparse(source: Any, tag: Tag) -> Any:
    target = source.clone()
    if source.layout == torch.sparse_coo:
        set_tag(target._values(), tag)
        set_tag(target._indices(), tag)
    target._tdl_tag = tag
    return target
