"""torch.cuda.FloatTensor and its kin: C++ has no such types in a CPU build, and isinstance must look at the tag."""

from __future__ import annotations

from typing import Any

import torch

from torchdevlint.machine.patches import replace
from torchdevlint.machine.places import user_place
from torchdevlint.machine.state import normal_device
from torchdevlint.machine.tags import Tag, device_of, set_tag

_DTYPES = {
    "FloatTensor": torch.float32,
    "DoubleTensor": torch.float64,
    "HalfTensor": torch.float16,
    "BFloat16Tensor": torch.bfloat16,
    "LongTensor": torch.int64,
    "IntTensor": torch.int32,
    "ShortTensor": torch.int16,
    "CharTensor": torch.int8,
    "ByteTensor": torch.uint8,
    "BoolTensor": torch.bool,
}


class _Default:
    on_gpu = False
    """Whether `torch.set_default_tensor_type` named a CUDA type."""


_DEFAULT = _Default()


class _TensorType(type):
    """A legacy tensor type: calling it makes a tensor, isinstance asks dtype and device."""

    dtype: Any
    is_cuda: bool

    def __instancecheck__(cls, instance: Any) -> bool:
        if not isinstance(instance, torch.Tensor) or instance.dtype != cls.dtype:
            return False
        return (device_of(instance).type == "cuda") == cls.is_cuda

    def __call__(cls, *args: Any, device: Any = None) -> Any:
        own = "cuda" if cls.is_cuda else "cpu"
        place = normal_device(own if device is None else device)
        if place.type != own:  # torch/csrc/utils/tensor_new.cpp, check_legacy_ctor_device
            raise RuntimeError(
                f"legacy constructor expects device type: {own} but device type: {place.type} was passed"
            )
        first = args[0] if len(args) == 1 else None
        if isinstance(first, torch.Tensor):
            made = first.to(cls.dtype).clone()
        elif first is not None and not isinstance(first, (int, torch.Size)):
            made = torch.tensor(first, dtype=cls.dtype, device="cpu")
        else:
            made = torch.empty(*args, dtype=cls.dtype, device="cpu")
        set_tag(made, Tag(place, user_place()))
        return made

    def __repr__(cls) -> str:
        return f"<class '{cls.__module__}.{cls.__name__}'>"


def dtype_and_place(named: Any) -> tuple[torch.dtype, bool]:
    """The dtype of a tensor type or of its name, and whether it is a CUDA type. Raises ValueError as torch does."""
    if named is torch.Tensor or named == "torch.Tensor":  # torch/csrc/utils/tensor_types.cpp: the default type
        return torch.get_default_dtype(), _DEFAULT.on_gpu
    name = named if isinstance(named, str) else f"{named.__module__}.{named.__name__}"
    dtype = _DTYPES.get(name.rsplit(".", 1)[-1])
    if dtype is None or not name.startswith("torch."):
        raise ValueError(f"invalid type: '{name}'")
    return dtype, name.startswith("torch.cuda.")


def _set_default_tensor_type(named: Any) -> None:
    dtype, on_gpu = dtype_and_place(named)
    torch.set_default_dtype(dtype)
    _DEFAULT.on_gpu = on_gpu
    torch.set_default_device("cuda" if on_gpu else None)


def install() -> None:
    """Patch the types in torch and torch.cuda."""
    for name, dtype in _DTYPES.items():
        for module, on_gpu in (("torch", False), ("torch.cuda", True)):
            fields = {"dtype": dtype, "is_cuda": on_gpu, "__module__": module}
            replace(torch.cuda if on_gpu else torch, name, _TensorType(name, (), fields))
    replace(torch, "set_default_tensor_type", _set_default_tensor_type)  # C++ would want the CUDA type
