"""torch.Tensor: the methods and properties that report or take a device, or that need the data on the host."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch.nn.parameter import UninitializedTensorMixin  # type: ignore[attr-defined]
from torch.overrides import handle_torch_function, has_torch_function_unary

from torchdevlint.machine import errors, forgiving, hazards, ledger
from torchdevlint.machine.checks import tensor_type
from torchdevlint.machine.dispatch import is_pinned
from torchdevlint.machine.moves import move
from torchdevlint.machine.patches import replace
from torchdevlint.machine.places import user_place
from torchdevlint.machine.state import STATE, normal_device
from torchdevlint.machine.tags import (
    CPU,
    HOST,
    WILD,
    WRAPPERS,
    Device,
    Tag,
    device_of,
    set_tag,
    storage_of,
    tag_of,
)

_base = torch._C.TensorBase
_DEVICE_SPECS = (str, Device, int)
_METHODS = ("to", "cuda", "cpu", "numpy", "type", "type_as", "get_device", "clone", "detach", "copy_", "tolist", "new")
_DEVICE_OF_WRAPPER = 6
"""The position of `device` in `Tensor._make_wrapper_subclass`, behind the class."""
_NEW = ("new_zeros", "new_ones", "new_full", "new_empty", "new_tensor", "new_empty_strided")


def _parse(*args: Any, **kwargs: Any) -> Any:
    """`torch._C._nn._parse_to`, which `Module.to` calls too: indices name CUDA devices, tensors give their own."""
    first = args[0] if args else kwargs.get("tensor")
    if isinstance(first, torch.Tensor):
        rest = {name: value for name, value in kwargs.items() if name != "tensor"}
        parsed = STATE.originals["_parse_to"](first.dtype, *args[1:], **rest)
        return (device_of(first), *parsed[1:])
    if type(first) is int:  # an index needs an accelerator, which the CPU build does not have
        args = (Device("cuda", first), *args[1:])
    if type(kwargs.get("device")) is int:
        kwargs["device"] = Device("cuda", kwargs["device"])
    return STATE.originals["_parse_to"](*args, **kwargs)


def _parse_with_copy(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, bool, bool, Any]:
    """(device, dtype, non_blocking, copy, memory_format) of a `Tensor.to` call; the parser knows no ``copy``."""
    options = dict(kwargs)
    copy = options.pop("copy", False)
    if "other" in options:
        options["tensor"] = options.pop("other")
    first = args[0] if args else options.get("tensor")
    most = 2 if isinstance(first, (torch.dtype, torch.Tensor)) else 3
    if len(args) > most:
        args, copy = args[:most], args[most]
    device, dtype, non_blocking, memory_format = _parse(*args, **options)
    return device, dtype, non_blocking, copy, memory_format


def to(self: Any, *args: Any, **kwargs: Any) -> Any:
    if has_torch_function_unary(self):
        return handle_torch_function(torch.Tensor.to, (self,), self, *args, **kwargs)
    if len(args) == 1 and not kwargs and args[0].__class__ in _DEVICE_SPECS:  # the commonest call needs no parser
        device = normal_device(args[0])
        if device.type in ("cpu", "cuda"):
            return self if device_of(self) is device else move(self, device)
    original = STATE.originals["to"]
    try:
        device, dtype, non_blocking, copy, memory_format = _parse_with_copy(args, kwargs)
    except (TypeError, RuntimeError):
        return original(self, *args, **kwargs)  # for the native error
    if device is None:
        return original(self, *args, **kwargs)
    device = normal_device(device)
    if device.type not in ("cpu", "cuda"):
        return original(self, *args, **kwargs)
    moved = device != device_of(self)
    formatted = memory_format is not None and memory_format is not torch.preserve_format
    if (dtype is not None and dtype != self.dtype) or formatted:
        options = {"memory_format": memory_format} if memory_format is not None else {}
        self = original(self, dtype or self.dtype, **options)
        copy = False
    if copy and not moved:
        return original(self, self.dtype, copy=True)
    return move(self, device, non_blocking)


def cuda(
    self: Any, device: Any = None, non_blocking: bool = False, *, memory_format: Any = torch.preserve_format
) -> Any:
    if isinstance(device, bool) or not isinstance(device, (int, str, Device, type(None))):
        return STATE.originals["cuda"](self, device)  # for the native error
    if has_torch_function_unary(self):
        return handle_torch_function(torch.Tensor.cuda, (self,), self, device, non_blocking)
    target = normal_device("cuda" if device is None else device)
    if target.type != "cuda":
        raise RuntimeError("Invalid device, must be cuda device")
    return move(self, target, non_blocking, cause="cuda")


def cpu(self: Any, memory_format: Any = torch.preserve_format) -> Any:
    if has_torch_function_unary(self):
        return handle_torch_function(torch.Tensor.cpu, (self,), self)
    return move(self, CPU, cause="cpu")


def numpy(self: Any, *, force: bool = False) -> Any:
    device = device_of(self)
    original = STATE.originals["numpy"]
    if device.type == "cuda":
        if force:
            return original(move(self.detach(), CPU, cause="numpy"), force=True)
        text = (
            f"can't convert {device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory "
            "first."
        )
        error = errors.fault(TypeError(text), "numpy", [("self", self)])
        forgiving.refuse(error, [self])
        return original(self.detach(), force=force)
    if hazards.IN_FLIGHT:
        hazards.check_read(self, "numpy")
    return original(self, force=force)


def tolist(self: Any) -> Any:
    # C++ copies to the host without an operator that the mode could see
    if device_of(self).type == "cuda":
        ledger.record_copy("d2h", "tolist", self)
        hazards.synchronised("tolist")
    elif hazards.IN_FLIGHT:
        hazards.check_read(self, "tolist")
    return STATE.originals["tolist"](self)


def type_(self: Any, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
    if dtype is None:
        return tensor_type(self)
    if isinstance(dtype, torch.dtype):
        return STATE.originals["to"](self, dtype)
    from torchdevlint.machine.patches.tensor_types import dtype_and_place

    target, on_gpu = dtype_and_place(dtype)
    device = normal_device("cuda") if on_gpu else CPU
    return move(STATE.originals["to"](self, target), device, non_blocking, cause="type")


def type_as(self: Any, other: Any) -> Any:
    # ATen: self.to(other.options()), device and index included
    return move(STATE.originals["to"](self, other.dtype), device_of(other), cause="type_as")


def get_device(self: Any) -> int:
    device = device_of(self)
    return device.index if device.type == "cuda" else STATE.originals["get_device"](self)


def pin_memory(self: Any, device: Any = None) -> Any:
    where = device_of(self)
    if where.type != "cpu":
        text = f"cannot pin '{tensor_type(self)}' only dense CPU tensors can be pinned"
        raise errors.fault(RuntimeError(text), "pin_memory", [("self", self)])
    if is_pinned(self):
        return self
    pinned = self.clone()
    storage_of(pinned)._tdl_pinned = True
    return pinned


def is_pinned_(self: Any, device: Any = None) -> bool:
    return is_pinned(self)


def copy_(self: Any, source: Any, non_blocking: bool = False) -> Any:
    if has_torch_function_unary(self):
        return handle_torch_function(torch.Tensor.copy_, (self, source), self, source, non_blocking)
    if isinstance(source, torch.Tensor) and source.requires_grad and torch.is_grad_enabled():
        source = move(source, device_of(self), non_blocking, cause="copy_")  # so that the gradient goes back
    return STATE.originals["copy_"](self, source, non_blocking)


def _new(name: str) -> Any:
    original = getattr(_base, name)

    def new(self: Any, *args: Any, **kwargs: Any) -> Any:
        spec = kwargs.pop("device", None)
        pinned = kwargs.pop("pin_memory", False)
        device = device_of(self) if spec is None else normal_device(spec)
        if device.type not in ("cpu", "cuda"):
            return original(self, *args, device=device, **kwargs)
        made = original(self, *args, **kwargs)
        set_tag(made, Tag(device, user_place()))
        if pinned:
            storage_of(made)._tdl_pinned = True
        return made

    new.__name__ = name
    return new


def _construct(cls: Any, *args: Any, **kwargs: Any) -> Any:
    made = _base.__new__(cls, *args, **kwargs)
    if isinstance(made, torch.Tensor) and not made.is_meta and tag_of(made) in (WILD, HOST):
        set_tag(made, Tag(CPU, user_place()))
    return made


def _deepcopy(original: Any) -> Any:
    @functools.wraps(original)
    def deepcopy(self: Any, memo: Any) -> Any:
        known = id(self) in memo
        copied = original(self, memo)
        if not known:
            set_tag(copied, tag_of(self))
        return copied

    return deepcopy


def _repr(original: Any) -> Any:
    @functools.wraps(original)
    def tensor_repr(self: Any, *, tensor_contents: Any = None) -> Any:
        if device_of(self).type == "cuda" and not ledger.RECORDER.quiet:
            ledger.record_copy("d2h", "print", self, implicit=True)
            hazards.synchronised("print")
        with ledger.as_one_event():
            return original(self, tensor_contents=tensor_contents)

    return tensor_repr


def _record_stream(self: Any, stream: Any) -> None:
    return None  # the machine has no allocator that could reuse memory early


def _dlpack_device(original: Any) -> Any:
    def dlpack_device(self: Any) -> Any:
        device = device_of(self)
        return (2, device.index) if device.type == "cuda" else original(self)  # 2: kDLCUDA

    return dlpack_device


def _cuda_array_interface(self: Any) -> Any:
    # AttributeError, so that hasattr says no: the pointer is one of the host
    if device_of(self).type == "cuda":
        raise AttributeError("a virtual GPU cannot give its memory to other CUDA libraries (__cuda_array_interface__)")
    raise AttributeError(f"Can't get __cuda_array_interface__ on non-CUDA tensor type: {self.type()}")


def _dlpack(original: Any) -> Any:
    @functools.wraps(original)
    def dlpack(self: Any, **kwargs: Any) -> Any:
        if device_of(self).type == "cuda":
            raise BufferError("a virtual GPU cannot give its memory to other libraries (DLPack)")
        return original(self, **kwargs)

    return dlpack


def _from_dlpack(original: Any) -> Any:
    @functools.wraps(original)
    def from_dlpack(ext_tensor: Any, **kwargs: Any) -> Any:
        if isinstance(ext_tensor, torch.Tensor):
            return ext_tensor.detach()  # shares memory, as the capsule would
        return original(ext_tensor, **kwargs)

    return from_dlpack


def _make_wrapper_subclass(original: Any) -> Any:
    """A wrapper says in its constructor where it is; its data is in the tensors that it wraps."""

    def make_wrapper_subclass(cls: Any, *args: Any, **kwargs: Any) -> Any:
        if cls.__module__.startswith("torch."):  # jagged tensors and their kin: the tags of their inner tensors count
            return original(cls, *args, **kwargs)
        device = kwargs.pop("device", None)
        if len(args) > _DEVICE_OF_WRAPPER:
            device = args[_DEVICE_OF_WRAPPER]
            args = (*args[:_DEVICE_OF_WRAPPER], CPU, *args[_DEVICE_OF_WRAPPER + 1 :])
        else:
            kwargs["device"] = CPU
        where = CPU if device is None else normal_device(device)
        if where.type not in ("cpu", "cuda"):
            args = tuple(where if value is CPU else value for value in args)
            return original(
                cls, *args, **{name: where if name == "device" else value for name, value in kwargs.items()}
            )
        WRAPPERS.add(cls)
        made = original(cls, *args, **kwargs)
        set_tag(made, Tag(where, user_place()))
        return made

    return make_wrapper_subclass


def install() -> None:
    """Keep the originals, then patch."""
    tensor_class = torch.Tensor
    for name in _METHODS:
        STATE.originals[name] = getattr(_base, name)
    STATE.originals["empty"] = torch.empty
    STATE.originals["_parse_to"] = replace(torch._C._nn, "_parse_to", _parse)  # Module.to
    replace(tensor_class, "device", property(device_of))  # C++ knows nothing of tags
    replace(tensor_class, "is_cuda", property(lambda self: device_of(self).type == "cuda"))
    replace(tensor_class, "is_cpu", property(lambda self: device_of(self).type == "cpu"))
    moves = {"to": to, "cuda": cuda, "cpu": cpu, "type": type_, "type_as": type_as, "copy_": copy_}  # they move
    reads = {"numpy": numpy, "tolist": tolist, "get_device": get_device}  # they need the host, or tell the device
    pins = {
        "pin_memory": pin_memory,
        "is_pinned": is_pinned_,
        "record_stream": _record_stream,
    }  # they need an allocator
    for name, function in {**moves, **reads, **pins}.items():
        replace(tensor_class, name, function)
    wrapper = _make_wrapper_subclass(tensor_class._make_wrapper_subclass)
    replace(tensor_class, "_make_wrapper_subclass", staticmethod(wrapper))
    for name in _NEW:  # they follow self's device
        replace(tensor_class, name, _new(name))
    replace(tensor_class, "new", _new("new"))
    lazy = [*UninitializedTensorMixin._allowed_methods, to, cuda, cpu, copy_]
    replace(UninitializedTensorMixin, "_allowed_methods", lazy)  # lazy modules may move before they have a shape
    replace(tensor_class, "__new__", staticmethod(_construct))  # the legacy constructor makes a CPU tensor
    replace(tensor_class, "__deepcopy__", _deepcopy(tensor_class.__deepcopy__))  # tensors without storage
    replace(tensor_class, "__repr__", _repr(tensor_class.__repr__))  # one synchronisation for the ledger, not eight
    replace(tensor_class, "__cuda_array_interface__", property(_cuda_array_interface))  # no device pointer here
    replace(tensor_class, "__dlpack__", _dlpack(tensor_class.__dlpack__))
    replace(torch, "from_dlpack", _from_dlpack(torch.utils.dlpack.from_dlpack))  # torch's own tensors need no capsule
    replace(tensor_class, "__dlpack_device__", _dlpack_device(tensor_class.__dlpack_device__))
