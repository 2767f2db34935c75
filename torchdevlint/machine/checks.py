"""What CUDA kernels check about the devices of their tensors. Only calls that mix devices come here.

Each check returns the device of the result, or raises the native error with the guilty lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

from torchdevlint.machine import errors
from torchdevlint.machine.tags import ANY_DEVICE, CPU, device_in_op, flat

EACH: Any = object()
"""Result device of a foreach operator: each output follows its own input."""

Named = Mapping[str, Any]
_RELEASE = tuple(int(part) for part in torch.__version__.split(".")[:2])


def named_tensors(named: Named) -> list[tuple[str, Any]]:
    """(argument, tensor) pairs of a call; of a list, the first tensor on each device ("tensors[2]")."""
    return [pair for name, value in named.items() for pair in _named(name, value)]


def _named(name: str, value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, torch.Tensor):
        return [(name, value)]
    firsts: dict[Any, tuple[str, Any]] = {}
    for position, tensor in enumerate(flat(value)):
        firsts.setdefault(device_in_op(tensor), (f"{name}[{position}]", tensor))
    return list(firsts.values())


def same_device(tensors: list[Any], names: Named, operator: str, scalars: bool, outputs: Iterable[Any] = ()) -> Any:
    """TensorIterator's rule (aten/src/ATen/TensorIterator.cpp, compute_types).

    The first device that is not the CPU is common to all; with ``scalars``, one 0-dim CPU tensor that is no output may stay
    on the host.
    """
    devices = [device_in_op(tensor) for tensor in tensors]
    common = next((d for d in devices if d is not ANY_DEVICE and d != CPU), CPU)
    outputs = list(outputs)
    host_scalars = 0
    for tensor, device in zip(tensors, devices, strict=True):
        if device is ANY_DEVICE or device == common:
            continue
        host_scalar = device == CPU and tensor.dim() == 0 and not any(tensor is output for output in outputs)
        if not (scalars and host_scalar):
            raise errors.fault(errors.two_devices(common, device), operator, named_tensors(names))
        host_scalars += 1
        if host_scalars > 1:
            text = "Trying to pass too many CPU scalars to non-CPU kernel!"
            raise errors.fault(RuntimeError(text), operator, named_tensors(names))
    return common


def exactly_same(named: Named, arguments: Iterable[str], method: str, operator: str) -> None:
    """The check that torchgen writes into a CUDA wrapper (c10::impl::check_and_update_common_device)."""
    common = None
    for name in arguments:
        for tensor in flat(named.get(name)):
            device = device_in_op(tensor)
            if device is ANY_DEVICE:
                continue
            if common is None:
                common = device
            elif device != common:
                raise errors.fault(errors.wrong_argument(common, name, device, method), operator, named_tensors(named))


def tensor_type(tensor: Any) -> str:
    """The legacy name of a tensor's type, such as "torch.cuda.FloatTensor"."""
    from torchdevlint.machine.state import STATE

    name: str = STATE.originals["type"](tensor)
    return name.replace("torch.", "torch.cuda.", 1) if device_in_op(tensor).type == "cuda" else name


def _differ(first: Any, second: Any) -> bool:
    a, b = device_in_op(first), device_in_op(second)
    return a is not ANY_DEVICE and b is not ANY_DEVICE and a != b


def _settled(own: Any, *others: Any) -> Any:
    """The device that an operator works on: that of its own tensor; a tensor made in C++ takes the others', a GPU before the CPU."""
    devices = [device_in_op(own)]
    if devices[0] is ANY_DEVICE:
        devices = sorted(
            (d for d in map(device_in_op, others) if d is not ANY_DEVICE), key=lambda device: device == CPU
        )
    return devices[0] if devices else ANY_DEVICE


def _raise(text: str, operator: str, named: Named) -> None:
    raise errors.fault(RuntimeError(text), operator, named_tensors(named))


def _index(operator: str, named: Named) -> Any:
    """aten/src/ATen/native/TensorAdvancedIndexing.cpp: indices may lie on the host, never on another device."""
    device = _settled(named["self"], *flat(named["indices"]), *flat(named.get("values")))
    for index in flat(named["indices"]):
        where = device_in_op(index)
        if where is not ANY_DEVICE and where != CPU and where != device:
            text = f"indices should be either on cpu or on the same device as the indexed tensor ({device})"
            _raise(text, operator, named)
    values = named.get("values")
    if values is not None and _differ(values, named["self"]) and not (values.numel() == 1 and values.dim() == 0):
        first, second = device, device_in_op(values)
        if first == CPU:
            first, second = second, first
        raise errors.fault(errors.two_devices(first, second), operator, named_tensors(named))
    return device


def _convolution(operator: str, named: Named) -> Any:
    """aten/src/ATen/native/Convolution.cpp, check_input_same_type_as_parameters."""
    data, weight, bias = named["input"], named["weight"], named.get("bias")
    device = device_in_op(data)
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is None or not _differ(data, parameter):
            continue
        where = device_in_op(parameter)
        if where.type == device.type:
            method = "wrapper_CUDA__cudnn_convolution"
            raise errors.fault(errors.wrong_argument(device, name, where, method), operator, named_tensors(named))
        suffix = f" or input should be a MKLDNN tensor and {name} is a dense tensor" if device == CPU else ""
        types = f"Input type ({tensor_type(data)}) and {name} type ({tensor_type(parameter)})"
        _raise(f"{types} should be the same{suffix}", operator, named)
    return device


def _masked_fill(operator: str, named: Named) -> Any:
    """aten/src/ATen/native/cuda/IndexKernel.cpp."""
    own, mask = named["self"], named["mask"]
    if _differ(own, mask):
        where, device = device_in_op(mask), device_in_op(own)
        _raise(
            f"expected self and mask to be on the same device, but got mask on {where} and self on {device}",
            operator,
            named,
        )
    return _settled(own, mask)


def _where(operator: str, named: Named) -> Any:
    """aten/src/ATen/native/TensorCompare.cpp, where_self_out: 0-dim CPU tensors, the condition too, are moved to the rest."""
    everything = [named["condition"], named["self"], named["other"]]
    chosen = [t for t in everything if not (device_in_op(t) == CPU and t.dim() == 0)]
    same_device(chosen, named, operator, scalars=False)
    return next((d for d in map(device_in_op, everything) if d is not ANY_DEVICE and d != CPU), CPU)


def _attention(operator: str, named: Named) -> Any:
    """aten/src/ATen/native/transformers/attention.cpp, validate_sdpa_input."""
    query, key, value = named["query"], named["key"], named["value"]
    if _differ(query, key) or _differ(query, value):
        devices = [device_in_op(tensor) for tensor in (query, key, value)]
        text = (
            "Expected query, key, and value to have the same device type, but got query.device: {} key.device: {} "
            "and value.device: {} instead."
        )
        _raise(text.format(*devices), operator, named)
    for _, tensor in named_tensors(named):
        if _differ(query, tensor):
            error = errors.two_devices(device_in_op(query), device_in_op(tensor))
            raise errors.fault(error, operator, named_tensors(named))
    return device_in_op(query)


def check_packed_lengths(operator: str, named: Named) -> Any:
    """aten/src/ATen/native/PackedSequence.cpp: the lengths stay on the host."""
    lengths = named.get("lengths")
    if lengths is not None and device_in_op(lengths) not in (CPU, ANY_DEVICE):
        kind = tensor_type(lengths).rsplit(".", 1)[1].removesuffix("Tensor")
        text = (
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.dim()}D "
            f"{device_in_op(lengths)} {kind} tensor"
        )
        _raise(text, operator, named)
    return _follow_first(operator, named)


def _ctc(operator: str, named: Named) -> Any:
    """The lengths of ctc_loss may lie on the host."""
    exactly_same(named, ["log_probs", "targets"], "wrapper_CUDA___ctc_loss", operator)
    return device_in_op(named["log_probs"])


def _follow_first(operator: str, named: Named) -> Any:
    return device_in_op(named_tensors(named)[0][1])


def _equal(operator: str, named: Named) -> Any:
    """aten/src/ATen/native/cuda/Equal.cpp."""
    first, second = device_in_op(named["self"]), device_in_op(named["other"])
    _raise(f"Cannot compare two tensors on different devices. Got: {first} and {second}", operator, named)


SpecialCheck = Callable[[str, Named], Any]
SPECIAL: dict[str, SpecialCheck] = {
    "index": _index,
    "index_put": _index,
    "index_put_": _index,
    "_index_put_impl_": _index,
    "_unsafe_index": _index,
    "convolution": _convolution,
    "_convolution": _convolution,
    "mkldnn_convolution": _convolution,
    "_slow_conv2d_forward": _convolution,
    "masked_fill": _masked_fill,
    "masked_fill_": _masked_fill,
    "where": _where,
    # aten/src/ATen/native/Fill.cpp reads a value on another device; an assignment to a slice on the CPU copies it (TensorIndexing.h, copy_to),
    # which is this operator here as both are on the CPU underneath
    "fill": _follow_first,
    "fill_": _follow_first,
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "ctc_loss": _ctc,
    "_ctc_loss": _ctc,
    "_ctc_loss_backward": _follow_first,
    "_pack_padded_sequence": check_packed_lengths,
    "_pad_packed_sequence": check_packed_lengths,
    "_pack_padded_sequence_backward": check_packed_lengths,
    "equal": _equal,
    # copies between devices are their purpose
    "copy": _follow_first,
    "copy_": _follow_first,
    "_to_copy": _follow_first,
    "_foreach_copy_": _follow_first,
    # these read no data
    "set_": _follow_first,
    "is_same_size": _follow_first,
    "record_stream": _follow_first,
    "detach": _follow_first,
}
WITHOUT_HOST_SCALARS = frozenset({"addmv", "baddbmm"})
"""Kernels that use TensorIterator only in part: a 0-dim CPU tensor is refused all the same."""
TAKES_HOST_SCALARS_SINCE = (2, 7)
"""The first release whose `lerp` and `addcmul` take a 0-dim CPU tensor on CUDA (pytorch#141820, pytorch#143264)."""
HOST_SCALARS = {"addcmul": ("tensor2",), "addcdiv": (), "lerp": ("weight",)}
"""Ternary kernels that take 0-dim CPU tensors in some places alone, or in none: aten/src/ATen/native/cuda/PointwiseOpsKernel.cu, Lerp.cu."""


def kernel_takes(base: str, named: Named, common: Any, operator: str) -> None:
    """What the CUDA kernel of a ternary operator says of 0-dim CPU tensors that TensorIterator let pass."""
    base = base.rstrip("_")
    taken = HOST_SCALARS.get(base)
    if taken is None or common == CPU:
        return
    if _RELEASE < TAKES_HOST_SCALARS_SINCE:
        taken = ()
    for position, (name, tensor) in enumerate(named_tensors(named), start=1):
        if device_in_op(tensor) != CPU or name in taken:
            continue
        if base == "addcmul" and taken:
            swap = " However, CPU Scalar support for tensor2 is supported, please swap your tensor1 and tensor2 terms."
            text = f"CPU Scalar support for {name} argument is not supported when calling addcmul on CUDA tensors."
            _raise(text + (swap if name == "tensor1" else ""), operator, named)
        # aten/src/ATen/native/cuda/Loops.cuh, gpu_kernel
        text = "iter.device(arg).is_cuda() INTERNAL ASSERT FAILED, please report a bug to PyTorch. "
        _raise(text + f"argument {position}: expected a CUDA device but found cpu", operator, named)


def foreach(operator: str, named: Named, written: list[Any]) -> Any:
    """Lists that no fast kernel takes: the operator runs for each index alone, with TensorIterator's rule."""
    lists = [value for value in named.values() if isinstance(value, (list, tuple)) and flat(value)]
    singles = [
        tensor for _, tensor in named_tensors({k: v for k, v in named.items() if not isinstance(v, (list, tuple))})
    ]
    for position in range(len(lists[0])):
        row = [column[position] for column in lists if position < len(column)]
        same_device(row + singles, named, operator, scalars=True, outputs=written)
    return EACH
