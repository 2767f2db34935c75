"""Transfer functions of calls: which room knows the callee."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from torchdevlint.flow import loaders, methods, module_calls, python_calls, torch_calls
from torchdevlint.flow.devices import CPU, TOP
from torchdevlint.flow.knowledge import modules
from torchdevlint.flow.module_calls import batch_encoding, call_module, copied, optimizer, pretrained, returns_tensors
from torchdevlint.flow.operands import Handler, combine, reference, reranked, tensors_in
from torchdevlint.flow.python_calls import numpy_call
from torchdevlint.flow.torch_calls import torch_call
from torchdevlint.flow.values import (
    AT_LEAST_ONE,
    OTHER,
    UNKNOWN,
    Evidence,
    Kind,
    Value,
    replace,
    tensor,
)
from torchdevlint.program import ir

if TYPE_CHECKING:
    from torchdevlint.flow.frame import Frame


def call(frame: Frame, op: ir.Call) -> Value:
    """The value of a call."""
    callee = frame.values[op.function]
    kind = callee.kind
    if kind is Kind.SYMBOL:
        return _symbol_call(frame, op, callee.symbol)
    _note_uses(frame, op)
    if kind is Kind.FUNCTION:
        return frame.analysis.call_function(frame, op, callee)
    if kind is Kind.CLASS:
        return frame.analysis.instantiate(frame, op, callee)
    if kind is Kind.MODULE:
        return call_module(frame, op, callee)
    if kind is Kind.OTHER and callee.symbol in modules.MAKE_IMAGE_TENSORS:
        return _image_tensor(op)
    written = frame.definitions[op.function]
    if kind is Kind.UNKNOWN and callee.moved is not None and callee.device.may_be_accelerator:
        place = frame.place(op.function)
        if place and "pipe" not in place.lower():
            # What is moved and then called is a module.
            return call_module(frame, op, replace(callee, kind=Kind.MODULE, evidence=Evidence.USAGE, ref=""))
    if isinstance(written, ir.Attribute) and (
        _is_own_method(frame, written) or not (is_loss_name(written.name) or is_model_name(written.name))
    ):
        return methods.call(frame, op, written.name, frame.values[written.object], written.object)
    if kind is Kind.TOKENIZER or returns_tensors(frame, op):
        return batch_encoding(frame, op)
    place = frame.place(op.function)
    if is_loss_name(place):
        return call_module(frame, op, _UNKNOWN_LOSS)
    if is_model_name(place) and not place.rpartition(".")[2][0].isupper():  # a class gives a model, no tensor
        return call_module(frame, op, replace(_UNKNOWN_MODEL, ref=place, parameter=callee.parameter))
    if COLLATE_NAME.search(place):
        return _collated(frame, op)
    return UNKNOWN


def _collated(frame: Frame, op: ir.Call) -> Value:
    """A batch that a collate function made: on the CPU, unless it is told a device."""
    if op.has_splat or any(frame.device_argument(argument.value) is not TOP for argument in op.arguments):
        return UNKNOWN
    return Value(Kind.BATCH, CPU, origin=op, evidence=Evidence.NAME)


@lru_cache(maxsize=4096)
def is_loss_name(place: str) -> bool:
    """True for the name of a loss function, by the custom of the field."""
    return bool(LOSS_NAME.search(place))


@lru_cache(maxsize=4096)
def is_model_name(place: str) -> bool:
    """True for the name of a model, or of a part of one, by the custom of the field."""
    return bool(MODEL_NAME.search(place)) and not _ABOUT_A_MODEL.search(place)


def _is_own_method(frame: Frame, written: ir.Attribute) -> bool:
    """True for a method that the object's class, one of this file, defines, whatever it is called."""
    base = frame.values[written.object]
    summary = frame.class_summary if base.ref == "self" else None
    if summary is None and base.kind in (Kind.MODULE, Kind.INSTANCE) and base.definition is not None:
        summary = frame.analysis.summary_of(base.definition)
    return summary is not None and summary.method(written.name) is not None


def _einops_call(frame: Frame, op: ir.Call, name: str) -> Value:
    """`rearrange` and its kind follow their first argument; `einsum` wants its tensors on one device."""
    first = op.positional(0)
    if first is None:
        return UNKNOWN
    if name == "einsum":
        given = [v for a in op.arguments if not a.star and a.keyword is None for v in tensors_in(frame, a.value)]
        return reranked(combine(given), None)
    found = combine(tensors_in(frame, first))
    if name == "pack":
        return Value(Kind.TUPLE, items=(reranked(found, AT_LEAST_ONE) if found.is_tensor else found, UNKNOWN))
    if name == "unpack":
        return Value(Kind.LIST, element=reranked(found, None)) if found.is_tensor else UNKNOWN
    return found


def _torchvision_call(frame: Frame, op: ir.Call, name: str) -> Value:
    """`torchvision.ops` computes on the device of the boxes; both operands must share it."""
    if name.startswith("torchvision.transforms."):
        return _transform(frame, op, name)
    if not name.startswith("torchvision.ops."):
        return (
            Value(Kind.MODULE, CPU, ref=reference(frame, op), evidence=Evidence.STRONG, symbol=name, origin=op)
            if modules.is_module_class(name)
            else UNKNOWN
        )
    operands = [value for argument in op.arguments if not argument.star for value in tensors_in(frame, argument.value)]
    return reranked(combine(operands), AT_LEAST_ONE) if operands else UNKNOWN


def _transform(frame: Frame, op: ir.Call, name: str) -> Value:
    """A transform keeps its class as `symbol`; a `Compose` that ends on the CPU that of the transform which makes the tensor."""
    last = name.rpartition(".")[2]
    if last in ("to_tensor", "pil_to_tensor"):
        return _image_tensor(op)
    if last == "Compose" and (steps := op.argument("transforms", 0)) is not None:
        made = ""
        for step in frame.values[steps].items or ():
            if step.kind is not Kind.OTHER or not step.symbol or step.symbol.endswith(".Lambda"):
                made = ""
            elif step.symbol in modules.MAKE_IMAGE_TENSORS:
                made = step.symbol
        return Value(Kind.OTHER, symbol=made)
    return Value(Kind.OTHER, symbol=name)  # most follow their input


def _image_tensor(op: ir.Call) -> Value:
    return tensor(CPU, rank=3, origin=op, evidence=Evidence.STRONG)


# What people call a loss: the last resort, never for errors.
LOSS_NAME = re.compile(
    r"(?:\A|[._])(?:\w*criterion\w*|crit|loss_?f(?:n|ct|unc|unction)?|loss_?function|objective_fn)\Z", re.IGNORECASE
)
MODEL_NAME = re.compile(
    r"(?:\A|[._])(?:model|net|network|encoder|decoder|policy|actor|critic|backbone|generator|discriminator|\w*embeddings?)\Z",
    re.IGNORECASE,
)
# `get_model()`, `self.build_network()`: what does something with a model is none.
_ABOUT_A_MODEL = re.compile(
    r"(?:\A|\.)_*(?:get|load|build|make|create|init|setup|set|define|save|resume|restore|convert|wrap|prepare|new|find|freeze|unfreeze|train|fit|test|eval|export|compile"
    r"|update|register|configure|reset|select|choose|log|print|add|instantiate|construct|initialize|unwrap|clone|copy|fetch|download|read)_\w+\Z"
)
COLLATE_NAME = re.compile(r"(?:\A|[._])(?:\w*batch_converter|\w*collat(?:e|e_fn|er|or))\Z", re.IGNORECASE)
_UNKNOWN_MODEL = Value(Kind.MODULE, evidence=Evidence.NAME)
_UNKNOWN_LOSS = Value(Kind.MODULE, symbol="torch.nn.UnknownLoss", evidence=Evidence.NAME)


def _note_uses(frame: Frame, op: ir.Call, callee: str = "") -> None:
    if frame.sink is None:
        return
    written = frame.definitions[op.function]
    receiver = None
    if not callee and isinstance(written, ir.Attribute):
        callee = "." + written.name
        receiver = frame.values[written.object]
        frame.used(receiver, op, "receiver", callee)
    for at, argument in enumerate(op.arguments):
        role = f"keyword {argument.keyword}" if argument.keyword else (argument.star or f"argument {at}")
        frame.used(frame.values[argument.value], op, role, callee, receiver)


def _symbol_call(frame: Frame, op: ir.Call, name: str) -> Value:
    _note_uses(frame, op, name)
    handler = _EXACT.get(name)
    if handler is not None:
        return handler(frame, op, name)
    root = name.partition(".")[0]
    if root == "torch":
        return torch_call(frame, op, name)
    if root == "numpy":
        return numpy_call(frame, op, name)
    if root == "builtins":
        return UNKNOWN
    if modules.TOKENIZER.match(name.removesuffix(".from_pretrained")):
        return Value(Kind.TOKENIZER, symbol=name)
    if name.endswith(".from_pretrained") and modules.HF_MODEL.match(name.removesuffix(".from_pretrained")):
        return pretrained(frame, op, name)
    if modules.HF_MODEL.match(name):
        return Value(Kind.MODULE, CPU, ref=reference(frame, op), evidence=Evidence.STRONG, symbol=name, origin=op)
    if modules.is_optimizer(name):
        return optimizer(frame, op, name)
    if modules.is_module_class(name):
        return Value(Kind.MODULE, CPU, ref=reference(frame, op), evidence=Evidence.STRONG, symbol=name, origin=op)
    if (
        root in ("argparse", "os", "sys", "re", "json", "time", "random", "math", "logging", "copy", "pickle")
        and name != "copy.deepcopy"
    ):
        return Value(Kind.OTHER) if name not in ("pickle.load", "copy.copy", "math.prod") else UNKNOWN
    if returns_tensors(frame, op):
        return batch_encoding(frame, op)
    if name.removesuffix(".from_pretrained").endswith("Pipeline"):
        return OTHER  # it can be moved and called as a module can, and moves its inputs itself
    last = name.rpartition(".")[2]
    if name in ("copy.deepcopy", "copy.copy"):
        return copied(frame, op, name)
    if root == "torchvision":
        return _torchvision_call(frame, op, name)
    if root == "einops":
        return _einops_call(frame, op, last)
    if root == "torch_scatter" or root == "torch_sparse":
        first = op.positional(0)
        return combine(tensors_in(frame, first)) if first is not None else UNKNOWN
    if last == "DataLoader" and not _may_place(frame, name):
        return Value(Kind.LOADER, evidence=Evidence.USAGE, symbol=name)
    return UNKNOWN


_EXACT: dict[str, Handler] = {**python_calls.EXACT, **torch_calls.EXACT, **module_calls.EXACT, **loaders.EXACT}


def _may_place(frame: Frame, name: str) -> bool:
    """True for a loader of the project's own whose file speaks of devices: its batches may be on one."""
    member = frame.analysis.member
    if member is None:
        return False
    files = member.project.resolve(name, member.path)
    return any(member.project.says(path, b"cuda", b"device") for path in files)
