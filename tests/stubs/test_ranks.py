"""How many dimensions results have, for the samples of torch's own operator database."""

from __future__ import annotations

import ast
import math
from typing import Any

import pytest

from torchdevlint.infer.analysis import analyse
from torchdevlint.infer.values import Rec, Ref, Tensor, Tup, Value
from torchdevlint.program import from_ast
from torchdevlint.stubs.knowledge.functions import RANKS

torch = pytest.importorskip("torch")
_MOST_SAMPLES = 8
# Of tensors without dimensions, with keywords that nobody writes, or with the operands in another order.
_EXCEPT = ["einsum", "linalg.vander"] + [
    f"nn.functional.{name}"
    for name in ("embedding", "embedding_bag", "pairwise_distance", "scaled_dot_product_attention")
]


def _text(value: Any, held: list[Any]) -> str:
    if isinstance(value, torch.Tensor):
        held.append(value)
        return f"T{len(held) - 1}"
    if type(value) in (list, tuple):
        inner = ", ".join(_text(one, held) for one in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner},)" if value else "()"
    if not isinstance(value, (int, float, str, bool, type(None), torch.dtype)) or value in (math.inf, -math.inf):
        raise NotWrittenError
    return repr(value)


class NotWrittenError(Exception):
    """A value that is no literal."""


def _calls() -> dict[str, list[tuple[str, list[Any]]]]:
    from torch.testing._internal.common_methods_invocations import op_db

    found: dict[str, list[tuple[str, list[Any]]]] = {}
    for op in op_db:
        if op.name not in RANKS or op.name in _EXCEPT or torch.float32 not in op.dtypes:
            continue
        for sample in list(op.sample_inputs("cpu", torch.float32))[:_MOST_SAMPLES]:
            held: list[Any] = []
            try:
                first, *args = (_text(one, held) for one in (sample.input, *sample.args))
                args += [f"{key}={_text(one, held)}" for key, one in sample.kwargs.items()]
            except NotWrittenError:
                continue
            is_method = "." not in op.name and not hasattr(torch, op.name)
            call = (
                f"{first}.{op.name}({', '.join(args)})"
                if is_method
                else f"torch.{op.name}({', '.join([first, *args])})"
            )
            found.setdefault(op.name, []).append((call, held))
    return found


def _agrees(heap: dict[Value, Rec], told: Value, real: Any) -> bool:
    if isinstance(real, torch.Tensor):
        rank = told.rank if isinstance(told, Tensor) else None
        return rank is None or (rank == real.dim() if rank >= 0 else real.dim() >= -rank)
    rec = heap.get(told) if isinstance(told, Ref) else None
    parts = told.items if isinstance(told, Tup) else list(rec.fields.values()) if rec is not None else []
    parts = list(parts) * len(real) if len(parts) == 1 else list(parts)
    return all(_agrees(heap, one, part) for one, part in zip(parts, real, strict=False))


def test_results_have_as_many_dimensions_as_is_told() -> None:
    calls = _calls()
    assert len(calls) > 70
    wrong = []
    for several in calls.values():
        for text, held in several:
            real = eval(text, {"torch": torch, **{f"T{at}": one for at, one in enumerate(held)}})
            made = [f"T{at} = torch.ones({tuple(one.shape)}, dtype={one.dtype})" for at, one in enumerate(held)]
            found = analyse(from_ast.lower(ast.parse("\n".join(["import torch", *made, f"o = {text}"]))))
            run = found.module_of(found.unit)
            assert run is not None
            if not _agrees(run.heap, run.heap[found.unit.globals].fields[".o"], real):
                wrong.append(text)
    assert wrong == []
