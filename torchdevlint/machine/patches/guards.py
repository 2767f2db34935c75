"""Composite operators that check devices themselves in C++, before any operator that the mode could see.

The texts are what an untouched PyTorch says when it is given a `meta` tensor in the place of the CUDA one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from torchdevlint.machine import errors, forgiving
from torchdevlint.machine.patches import replace
from torchdevlint.machine.patches.factories import default_device
from torchdevlint.machine.tags import device_of, flat

Check = Callable[..., None]


def _refuse(text: str, operator: str, **tensors: Any) -> None:
    forgiving.refuse(errors.fault(RuntimeError(text), operator, tensors.items()), list(tensors.values()))


def _window(name: str) -> Check:
    """aten/src/ATen/native/SpectralOps.cpp."""

    def check(
        data: Any, n_fft: Any = None, hop: Any = None, length: Any = None, window: Any = None, *_: Any, **__: Any
    ) -> None:
        if window is not None and device_of(window) != device_of(data):
            places = f"self on {device_of(data)} and window on {device_of(window)}"
            _refuse(
                f"{name} input and window must be on the same device but got {places}", name, self=data, window=window
            )

    return check


def _weight_norm(v: Any, g: Any, *_: Any, **__: Any) -> None:
    """aten/src/ATen/native/WeightNorm.cpp."""
    if device_of(v) != device_of(g):
        places = f"v_in is on {device_of(v)} and g_in is on {device_of(g)}"
        _refuse(f"weight_norm: expected v_in and g_in to be on the same device, but {places}", "_weight_norm", v=v, g=g)


def _quantile(data: Any, q: Any = None, *_: Any, **__: Any) -> None:
    """aten/src/ATen/native/Sorting.cpp."""
    if isinstance(q, torch.Tensor) and device_of(q) != device_of(data):
        _refuse("quantile() q tensor must be on the same device as the input tensor", "quantile", input=data, q=q)


def _gradient(data: Any, *_: Any, spacing: Any = None, **__: Any) -> None:
    """aten/src/ATen/native/ReduceOps.cpp."""
    for step in flat(spacing):
        if step.dim() and device_of(step) != device_of(data):
            text = (
                "torch.gradient expected each tensor to be on the same device, but got devices "
                f"{device_of(data)} and {device_of(step)}!"
            )
            _refuse(text, "gradient", input=data, spacing=step)


def _multi_dot(tensors: Any, *_: Any, **__: Any) -> None:
    """aten/src/ATen/native/LinearAlgebra.cpp."""
    for position, tensor in enumerate(tensors):
        if device_of(tensor) != device_of(tensors[0]):
            places = f"tensor 0 is on {device_of(tensors[0])} and tensor {position} on {device_of(tensor)}"
            text = f"multi_dot(): all tensors must be on the same device but {places}"
            _refuse(text, "multi_dot", first=tensors[0], other=tensor)


def _chain_matmul(*matrices: Any, **_: Any) -> None:
    _multi_dot(flat(matrices))


def _cholesky_solve(b: Any, a: Any, *_: Any, **__: Any) -> None:
    """aten/src/ATen/native/LinearAlgebraUtils.h, linearSolveCheckInputs."""
    if device_of(b) != device_of(a):
        places = f"found b on {device_of(b)} and A on {device_of(a)} instead."
        _refuse(f"Expected b and A to be on the same device, but {places}", "cholesky_solve", b=b, A=a)


def _block_diag(*tensors: Any) -> None:
    """aten/src/ATen/native/TensorShape.cpp."""
    tensors = tuple(flat(tensors))
    for position, tensor in enumerate(tensors):
        if device_of(tensor) != device_of(tensors[0]):
            places = (
                f"Input 0 is on device {device_of(tensors[0])} and input {position} is on device {device_of(tensor)}"
            )
            text = f"torch.block_diag: input tensors must all be on the same device. {places}"
            _refuse(text, "block_diag", first=tensors[0], other=tensor)


def _meshgrid(*tensors: Any, **_: Any) -> None:
    """aten/src/ATen/native/TensorShape.cpp."""
    tensors = tuple(flat(tensors))
    for tensor in tensors:
        if device_of(tensor) != device_of(tensors[0]):
            text = "meshgrid expects all tensors to have the same device"
            _refuse(text, "meshgrid", first=tensors[0], other=tensor)


def _tensor_split(data: Any, indices: Any = None, *_: Any, **kwargs: Any) -> None:
    """aten/src/ATen/native/TensorShape.cpp."""
    indices = kwargs.get("tensor_indices_or_sections", indices)
    if isinstance(indices, torch.Tensor) and device_of(indices).type != "cpu":
        text = f"tensor_split expected tensor_indices_or_sections to be on cpu, but it's on {device_of(indices)}"
        _refuse(text, "tensor_split", input=data, indices=indices)


def _take_along_dim(data: Any, indices: Any, *_: Any, **__: Any) -> None:
    """aten/src/ATen/native/TensorAdvancedIndexing.cpp, through checkDeviceType; then gather's own check."""
    if device_of(indices).type != device_of(data).type:
        kinds = f"{device_of(data).type} Device, but got tensor with {device_of(indices).type} Device"
        text = f"Expected tensor to have {kinds} (while checking arguments for torch.take_along_dim():)"
        _refuse(text, "take_along_dim", input=data, indices=indices)


def _searchsorted(boundaries: Any, values: Any, *_: Any, sorter: Any = None, **__: Any) -> None:
    """aten/src/ATen/native/BucketizationUtils.h: a keyword argument, which CUDA's wrapper does not check."""
    if sorter is not None and device_of(sorter) != device_of(boundaries):
        places = (
            f"sorter tensor device type {device_of(sorter)} and input value tensor device type {device_of(boundaries)}"
        )
        text = f"torch.searchsorted(): sorter and boundary tensors should have same device type, but got {places}"
        _refuse(text, "searchsorted", boundaries=boundaries, sorter=sorter)


def _sparse_parts(indices: Any = None, values: Any = None, *_: Any, device: Any = None, **__: Any) -> None:
    """aten/src/ATen/SparseTensorImpl.cpp, set_indices_and_values_unsafe."""
    is_placed = device is not None or default_device() is not None
    if isinstance(indices, torch.Tensor) and isinstance(values, torch.Tensor) and not is_placed:
        names = [{"cpu": "CPU", "cuda": "CUDA"}.get(device_of(one).type, "") for one in (indices, values)]
        if names[0] != names[1]:
            text = f"backend of indices ({names[0]}) must match backend of values ({names[1]})"
            _refuse(text, "sparse_coo_tensor", indices=indices, values=values)


_VARIABLE_FUNCTIONS: Any = torch._VF
_CHECKS: tuple[tuple[tuple[Any, ...], str, Check], ...] = (
    ((_VARIABLE_FUNCTIONS,), "stft", _window("stft")),
    ((_VARIABLE_FUNCTIONS, torch, torch.Tensor), "istft", _window("istft")),
    ((torch,), "_weight_norm", _weight_norm),
    ((torch, torch.Tensor), "quantile", _quantile),
    ((torch, torch.Tensor), "nanquantile", _quantile),
    ((torch,), "gradient", _gradient),
    ((torch.linalg,), "multi_dot", _multi_dot),
    ((torch,), "chain_matmul", _chain_matmul),
    ((torch, torch.Tensor), "cholesky_solve", _cholesky_solve),
    ((torch,), "block_diag", _block_diag),
    ((torch,), "meshgrid", _meshgrid),
    ((torch, torch.Tensor), "tensor_split", _tensor_split),
    ((torch, torch.Tensor), "take_along_dim", _take_along_dim),
    ((torch,), "searchsorted", _searchsorted),
    ((torch,), "sparse_coo_tensor", _sparse_parts),
)


def _guarded(original: Any, check: Check) -> Any:
    @functools.wraps(original)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        if args:
            check(*args, **kwargs)
        return original(*args, **kwargs)

    return guarded


def _ctc_loss(original: Any) -> Any:
    """C++ takes another path for lengths given as tensors while a dispatch mode is on: give them as numbers."""

    @functools.wraps(original)
    def ctc_loss(
        log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, *args: Any, **kwargs: Any
    ) -> Any:
        numbers = [x.tolist() if isinstance(x, torch.Tensor) else x for x in (input_lengths, target_lengths)]
        if isinstance(targets, torch.Tensor):  # C++ brings them there (aten/src/ATen/native/LossCTC.cpp)
            targets = targets.to(log_probs.device)
        return original(log_probs, targets, *numbers, *args, **kwargs)

    return ctc_loss


def _make_grads(original: Any) -> Any:
    """torch/csrc/autograd/engine.cpp, validate_outputs, of what `backward` and `grad` are given: a number is moved, and all else is refused."""

    @functools.wraps(original)
    def make_grads(outputs: Any, gradients: Any, *args: Any, **kwargs: Any) -> Any:
        found = list(gradients)
        for position, (output, gradient) in enumerate(zip(outputs, found, strict=False)):
            if not (isinstance(output, torch.Tensor) and isinstance(gradient, torch.Tensor)):
                continue
            own, other = device_of(output), device_of(gradient)
            if own != other and not gradient.dim():
                found[position] = gradient.to(own)
            elif own != other:
                text = f"invalid gradient at index {position} - expected device {own} but got {other}"
                _refuse(text, "backward", output=output, gradient=gradient)
        return original(outputs, tuple(found), *args, **kwargs)

    return make_grads


def install() -> None:
    """Patch the functions and methods."""
    for owners, name, check in _CHECKS:
        for owner in owners:
            replace(owner, name, _guarded(getattr(owner, name), check))
    replace(torch, "ctc_loss", _ctc_loss(torch.ctc_loss))
    replace(torch.autograd, "_make_grads", _make_grads(torch.autograd._make_grads))
