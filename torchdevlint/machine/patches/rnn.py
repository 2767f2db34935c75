"""LSTM, GRU and RNN: C++ checks the devices before any operator that the mode could see."""

from __future__ import annotations

import functools
from typing import Any

import torch

from torchdevlint.machine import errors, forgiving
from torchdevlint.machine.patches import replace
from torchdevlint.machine.places import user_place
from torchdevlint.machine.tags import CPU, Tag, device_of, flat, set_tag


def _checked(original: Any) -> Any:
    """aten/src/ATen/native/RNN.cpp, check_attributes."""

    @functools.wraps(original)
    def rnn(*args: Any, **kwargs: Any) -> Any:
        data, hidden, parameters = args[:3]
        if isinstance(hidden, torch.Tensor) and hidden.dtype == torch.long:  # packed: data, batch_sizes, hidden, ...
            hidden, parameters = args[2:4]
        if isinstance(parameters, (list, tuple)):
            device = device_of(data)
            _require(device, "hidden", data, flat(hidden), original.__name__)
            _require(device, "parameter", data, parameters, original.__name__)
        return original(*args, **kwargs)

    return rnn


def _require(device: Any, kind: str, data: Any, others: Any, operator: str) -> None:
    for other in others:
        where = device_of(other)
        if where != device:
            text = (
                f"Input and {kind} tensors are not at the same device, found input tensor at {device} and {kind} "
                f"tensor at {where}"
            )
            error = errors.fault(RuntimeError(text), operator, [("input", data), (kind, other)])
            forgiving.refuse(error, [data, other])


def _with_host_lengths(original: Any) -> Any:
    """The second result (lengths) is made in C++ as a CPU tensor on every machine."""

    @functools.wraps(original)
    def pad_packed_sequence(*args: Any, **kwargs: Any) -> Any:
        padded, lengths = original(*args, **kwargs)
        set_tag(lengths, Tag(CPU, user_place()))
        return padded, lengths

    return pad_packed_sequence


def install() -> None:
    """Patch the functions that the RNN modules call."""
    replace(torch._VF, "_pad_packed_sequence", _with_host_lengths(torch._VF._pad_packed_sequence))
    for name in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
        replace(torch._VF, name, _checked(getattr(torch._VF, name)))
