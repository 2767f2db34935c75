"""Runs PyTorch's own operator, module and optimizer samples and writes what came out, as digests, to JSON files.

usage: sweep.py plain|machine FOLDER ops|modules|optimizers[:EVERY] ... [--only NAME ...]

What came out of ops goes to FOLDER/ops.json, of every 12th of them with "ops:12".

``plain`` runs them on the CPU of an untouched torch, ``machine`` on cuda of the virtual machine: a second process, so
that the reference knows nothing of the machine. `compare` tells them apart.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import itertools
import json
import math
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_SAMPLES = 4
_UNDEFINED_VALUES = frozenset(
    {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}
)
_SAMPLES_BY_DEVICE = frozenset(
    {"sort", "argsort", "linalg.lstsq", "linalg.lstsq.grad_oriented", "_softmax_backward_data"}
)
"""Operators whose sample functions give other samples on CUDA: made on the CPU and moved, to have something to compare."""


def compare(plain: dict[str, Any], machine: dict[str, Any]) -> dict[str, str]:
    """What is wrong with each name, "" for nothing; names that fail on the plain CPU are left out."""
    return {name: _difference(name, plain[name], machine[name]) for name in plain if not isinstance(plain[name], str)}


def _difference(name: str, expected: list[Any], found: list[Any] | str) -> str:
    if isinstance(found, str):
        return found
    devices = {device for *_, device in found} - {"cuda"}
    if devices:
        return f"result on {', '.join(sorted(devices))}"
    if name in _UNDEFINED_VALUES:
        expected, found = ([[*item[:2], "", ""] for item in items] for items in (expected, found))
    same = len(expected) == len(found) and all(_agree(a, b) for a, b in zip(expected, found, strict=True))
    return "" if same else "other values than on the CPU"


def _agree(expected: list[Any], found: list[Any]) -> bool:
    """Equal bit by bit; parameters after five optimizer steps to 1e-5, since CUDA's default kernels are others."""
    if isinstance(expected[2], str):
        return expected[:-1] == found[:-1]
    close = all(math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-5) for a, b in zip(expected[2], found[2], strict=True))
    return close and expected[:2] == found[:2]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("where", choices=("plain", "machine"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("what", nargs="+")
    parser.add_argument("--only", nargs="*", default=None)
    options = parser.parse_args()
    device = "cpu"
    if options.where == "machine":
        from torchdevlint.machine import Shape, start

        start(Shape(gpus=1))
        device = "cuda"
    import torch

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for part in options.what:
        what, _, every = part.partition(":")
        results = _results(what, device, int(every or 1), options.only)
        (options.folder / f"{what}.json").write_text(json.dumps(results), encoding="utf-8")
    sys.stdout.flush()


def _results(what: str, device: str, every: int, only: list[str] | None) -> dict[str, Any]:
    runs = {"ops": _operators, "modules": _modules, "optimizers": _optimizers}[what](device)
    results: dict[str, Any] = {}
    for name, run in itertools.islice(runs, 0, None, every):
        if only is not None and name not in only:
            continue
        try:
            results[name] = [_digest(tensor, few=what == "optimizers") for tensor in run()]
        except Exception as error:
            results[name] = f"{type(error).__name__}: {str(error)[:200]}"
    return results


Run = tuple[str, Callable[[], list[Any]]]


def _seed() -> None:
    import numpy
    import torch

    torch.manual_seed(0)
    random.seed(0)
    numpy.random.seed(0)


def _digest(tensor: Any, few: bool = False) -> list[Any]:
    """[shape, dtype, values (few) or their hash (many; strided tensors alone), device type]."""
    import torch

    shape = "nested" if tensor.is_nested else str(tuple(tensor.shape))
    values: Any = ""
    if tensor.layout == torch.strided and not tensor.is_nested and tensor.device.type != "meta":
        host = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
        if host.dtype.is_floating_point or host.dtype.is_complex:
            exotic = host.dtype.itemsize == 1 or host.dtype == torch.complex32  # nan_to_num has no kernel for these
            host = host if exotic else torch.nan_to_num(host)
        if not host.is_quantized:
            row = torch.empty(host.numel(), dtype=host.dtype, device="cpu").copy_(host.reshape(-1))  # stride 1 for view
            values = row.tolist() if few else hashlib.sha1(row.view(torch.uint8).numpy().tobytes()).hexdigest()
    return [shape, str(tensor.dtype), values, tensor.device.type]


def _tensors(value: Any) -> list[Any]:
    import torch
    from torch.utils._pytree import tree_flatten

    return [leaf for leaf in tree_flatten(value)[0] if isinstance(leaf, torch.Tensor)]


def _operators(device: str) -> Iterator[Run]:
    from torch.testing._internal.common_methods_invocations import op_db

    for op in op_db:
        name = f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name
        yield (
            name,
            lambda op=op, name=name: _operator(op, device, made_on="cpu" if name in _SAMPLES_BY_DEVICE else device),
        )


def _move_leaf(value: Any, device: str) -> Any:
    import torch

    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().to(device).requires_grad_(value.requires_grad)


def _operator(op: Any, device: str, made_on: str) -> list[Any]:
    """Forward and backward of the first samples."""
    import torch

    dtype = torch.float32 if torch.float32 in op.dtypes else min(op.dtypes, key=str)
    differentiable = op.supports_autograd and dtype == torch.float32
    results = []
    _seed()
    samples = list(itertools.islice(op.sample_inputs(made_on, dtype, requires_grad=differentiable), _SAMPLES))
    for sample in samples:
        if made_on != device:
            sample = sample.transform(lambda value: _move_leaf(value, device))
        torch.manual_seed(1)
        outputs = _tensors(op(sample.input, *sample.args, **sample.kwargs))
        results += outputs
        inputs = [t for t in _tensors((sample.input, sample.args, sample.kwargs)) if t.requires_grad and t.is_leaf]
        sums = [t for t in outputs if t.requires_grad and t.is_floating_point() and t.layout == torch.strided]
        if inputs and sums:
            try:
                gradients = torch.autograd.grad(sum(t.sum() for t in sums), inputs, allow_unused=True)
            except RuntimeError as error:
                if "device" in str(error):
                    raise
                continue  # some operators have no backward for some samples, on every device
            results += [gradient for gradient in gradients if gradient is not None]
    return results


def _modules(device: str) -> Iterator[Run]:
    from torch.testing._internal.common_modules import module_db

    for info in module_db:
        yield info.name, lambda info=info: _module(info, device)


def _module(info: Any, device: str) -> list[Any]:
    import torch

    _seed()
    made = info.module_inputs_func(info, device=device, dtype=torch.float32, requires_grad=True, training=True)
    results = []
    for sample in itertools.islice(made, _SAMPLES):
        constructor = sample.constructor_input
        module = info.module_cls(*constructor.args, **constructor.kwargs).to(device).train()
        torch.manual_seed(1)
        outputs = _tensors(module(*sample.forward_input.args, **sample.forward_input.kwargs))
        sums = [t for t in outputs if t.requires_grad]
        if sums:
            sum(t.sum() for t in sums).backward()
        results += outputs + [p.grad for p in module.parameters() if p.grad is not None]
    return results


def _optimizers(device: str) -> Iterator[Run]:
    from torch.testing._internal.common_optimizers import optim_db

    for info in optim_db:
        implementations = [
            {},
            *({name: True} for name in getattr(info, "supported_impls", ()) if name in ("foreach", "fused")),
        ]
        for number, sample in enumerate(info.optim_inputs_func(device="cpu")):
            for flags in implementations:
                if set(flags) & set(sample.kwargs):
                    continue
                name = " ".join([info.optim_cls.__name__, f"#{number} {sample.desc}", *flags])
                yield name, lambda info=info, sample=sample, flags=flags: _optimizer(info, sample, flags, device)


def _optimizer(info: Any, sample: Any, flags: dict[str, bool], device: str) -> list[Any]:
    """Four steps, a copy of the state loaded again, and a fifth step."""
    import torch

    _seed()
    sparse = info.optim_cls.__name__ == "SparseAdam"
    if sparse:
        model: Any = torch.nn.Embedding(5, 4, sparse=True).to(device)
        data = torch.tensor([0, 3]).to(device)
    else:
        layers = [torch.nn.Linear(5, 4), torch.nn.ReLU(), torch.nn.Linear(4, 4, bias=False)]
        model = torch.nn.Sequential(*layers).to(device)
        data = torch.randn(3, 5).to(device)
    matrices_only = info.optim_cls.__name__ == "Muon"
    parameters = [p for p in model.parameters() if p.dim() == 2 or not matrices_only]
    options = {k: v.to(device) if isinstance(v, torch.Tensor) and v.dim() else v for k, v in sample.kwargs.items()}
    optimizer = info.optim_cls(parameters, **options, **flags)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (model(data) ** 2).sum()
        loss.backward()
        return loss

    for _ in range(4):
        optimizer.step(closure)
    optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    optimizer.step(closure)
    return [p.detach() for p in model.parameters()]


if __name__ == "__main__":
    main()
