"""Which side of a device error is the wrong one: from the operator's arguments, the two devices, the frames and the text of the line."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from torchdevlint.explain.log import Failure, is_torch, users_frames
from torchdevlint.explain.messages import OPERANDS, Sighting


@dataclass(frozen=True, slots=True)
class Verdict:
    """The cause, what stands for it in one sentence ("" where the message says it), and other causes that would give the same message.

    `is_sure`: the message itself leaves no other side; else the line may show something better.
    """

    cause: str
    ground: str = ""
    others: tuple[str, ...] = ()
    is_sure: bool = False


class _Operator(NamedTuple):
    """The arguments of an operator in the order in which torch compares their devices, and what they are."""

    method: re.Pattern[str]
    roles: dict[str, str]


def _operators(*rows: tuple[str, dict[str, str]]) -> tuple[_Operator, ...]:
    return tuple(_Operator(re.compile(pattern), roles) for pattern, roles in rows)


# From native_functions.yaml. Roles: input (given to a module), weight (a module's parameter), target, loss weight, state (an optimizer's).
_LAYER: Final = {
    "input": "input",
    "self": "input",
    "weight": "weight",
    "bias": "weight",
    "running_mean": "weight",
    "running_var": "weight",
}
_OPERATORS: Final = _operators(
    (r"fused_(?:adam|adamw|sgd|adagrad)|foreach|_amp_", {"": "state"}),
    (r"nll_loss|cross_entropy", {"self": "input", "input": "input", "target": "target", "weight": "loss weight"}),
    (
        r"binary_cross_entropy",
        {"self": "input", "input": "input", "target": "target", "weight": "loss weight", "pos_weight": "loss weight"},
    ),
    (r"embedding", {"weight": "weight", "self": "weight", "indices": "input", "index": "input"}),
    (r"conv|batch_norm|layer_norm|group_norm|instance_norm|prelu", _LAYER),
    (r"lstm|gru|rnn", _LAYER),
)
# Operators that a layer or the user's own line may have called.
_LAYERS_OWN: Final = _operators(
    (r"index_select", {"self": "weight", "weight": "weight", "index": "input"}),
    (
        r"addmm|addmv",
        {"self": "weight", "bias": "weight", "out": "weight", "mat1": "input", "mat2": "weight", "vec": "weight"},
    ),
    (r"(?:^|_)(?:mm|bmm|mv|matmul)(?:$|_)", {"self": "input", "mat1": "input", "mat2": "weight", "vec2": "weight"}),
)
_LEFT: Final = {
    "input": "tensor-left-behind",
    "target": "tensor-left-behind",
    "weight": "module-left-behind",
    "loss weight": "loss-weight",
    "state": "optimizer-state",
}
_IN_WORDS: Final = {
    "input": "the input",
    "target": "the target (the labels)",
    "weight": "the parameters of the layer",
    "loss weight": "the weight of the loss",
    "state": "the optimizer's state",
}
_LAYER_FILES: Final = re.compile(
    r"torch[/\\]nn[/\\](?:modules[/\\](?:linear|sparse|conv|batchnorm|normalization|rnn|activation)|functional)\.py$"
)
_STEP: Final = re.compile(r"\b(?:optim\w*|opt|scaler)(?:\w|\.|\[[^\]]*\])*\.step\(")
_STATE: Final = re.compile(r"\bexp_avg|momentum_buffer|\bstate\[|\bparam_groups\b")
_LOSS: Final = re.compile(
    r"\b(?:criterion\w*|loss_fn\w*|loss_func\w*|\w*cross_entropy\w*|nll_loss|bce_?loss)\(", re.IGNORECASE
)
_FACTORY: Final = re.compile(
    r"\btorch\.(zeros|ones|empty|full|tensor|arange|linspace|eye|rand|randn|randint|randperm|from_numpy|as_tensor|FloatTensor|LongTensor)\("
)
_REPLICA: Final = re.compile(r"Caught \w+ in replica \d+ on device")
_DISPATCHED: Final = re.compile(r"accelerate[/\\]hooks\.py$")


def judge(sighting: Sighting, failure: Failure, text: str = "") -> Verdict:
    """The most likely cause of a recognised error. `text` is the whole log."""
    if sighting.cause == "index-device" and _is_accelerator(sighting.other):
        return Verdict("split-model", f"the indexed tensor is on {sighting.other}, the index on another GPU")
    if sighting.cause != OPERANDS:
        return Verdict(sighting.cause, is_sure=True)
    if _is_step(failure):
        return Verdict(
            "optimizer-state", "the error comes from the optimizer's step", ("module-left-behind",), is_sure=True
        )
    if _is_accelerator(sighting.device) and _is_accelerator(sighting.other) and sighting.device != sighting.other:
        if _REPLICA.search(text):
            return Verdict("replica-device", "a DataParallel replica failed", ("split-model",))
        return Verdict(
            "split-model",
            f"both devices are accelerators: {sighting.other} and {sighting.device}",
            ("tensor-left-behind",),
        )
    return _by_roles(sighting, failure) or _by_line(failure)


def _is_accelerator(device: str) -> bool:
    return bool(device) and not device.startswith(("cpu", "meta"))


def _is_step(failure: Failure) -> bool:
    """True for an error inside of an optimizer."""
    for frame in failure.frames:
        if _STEP.search(frame.text) or (frame.function.split(".")[-1] == "step" and re.search(r"optim", frame.path)):
            return True
    last = failure.frames[-1] if failure.frames else None
    return (
        last is not None
        and last.function.split(".")[-1] in ("step", "_step", "update")
        and bool(_STATE.search(last.text))
    )


# ---------------------------------------------------------------------------------------------------- by the operator


def _by_roles(sighting: Sighting, failure: Failure) -> Verdict | None:
    """The side that is on the CPU, by what the operator's arguments are."""
    argument = sighting.argument
    if argument == "hidden":
        return Verdict(
            "tensor-left-behind",
            "the hidden state that the RNN is given is on " + (sighting.device or "another device"),
            is_sure=True,
        )
    if argument == "parameter":
        side = "weight" if sighting.device == "cpu" else "input"
        return _left(side)
    roles = _roles(sighting, failure)
    if roles is None:
        return None
    role = roles.get(argument) or roles.get("")
    if role is None:
        return None
    if sighting.device == "cpu" or role == "state":
        return _left(role)
    other = next((one for one in roles.values() if one != role), None)
    if sighting.other == "cpu" and other is not None:
        return _left(other)
    return None


def _left(role: str) -> Verdict:
    verb = "are" if role == "weight" else "is"
    return Verdict(_LEFT[role], f"{_IN_WORDS[role]} {verb} on the CPU", is_sure=True)


def _roles(sighting: Sighting, failure: Failure) -> dict[str, str] | None:
    method = sighting.method
    for operator in _OPERATORS:
        if operator.method.search(method):
            return operator.roles
    if not _is_of_layer(failure):
        return None
    for operator in _LAYERS_OWN:
        if operator.method.search(method):
            return operator.roles
    if not method and sighting.argument in ("mat1", "mat2", "weight", "bias"):
        return {"mat1": "input", "mat2": "weight", "weight": "weight", "bias": "weight"}
    return None


def _is_of_layer(failure: Failure) -> bool:
    """True where a layer of torch.nn made the call, and where the frames do not say who did."""
    if not failure.frames:
        return True
    inner = failure.frames[-1]
    return bool(_LAYER_FILES.search(inner.path)) if is_torch(inner) else not inner.text


# ---------------------------------------------------------------------------------------------------- by the line


def _by_line(failure: Failure) -> Verdict:
    """What the text of the failing line shows."""
    if any(_DISPATCHED.search(frame.path) for frame in failure.frames):
        return Verdict("split-model", "accelerate has placed the parts of this model", ("tensor-left-behind",))
    frames = users_frames(failure)
    outside = next((frame for frame in reversed(failure.frames) if not is_torch(frame)), None)
    frame = outside if outside is not None and outside.text else (frames[0] if frames else None)
    if frame is None or not frame.text:
        return Verdict("tensor-left-behind", "", ("module-left-behind", "attribute-left-behind"))
    made = _FACTORY.search(frame.text)
    if made is not None and "device=" not in frame.text:
        return Verdict("tensor-left-behind", f"`torch.{made[1]}(...)` on this line has no `device=`", ())
    attributes = _attributes(frame.text)
    if attributes:
        named = ", ".join(f"`self.{name}`" for name in attributes)
        return Verdict("attribute-left-behind", f"{named} on this line is an attribute", ("tensor-left-behind",))
    if _LOSS.search(frame.text):
        return Verdict("tensor-left-behind", "the loss gets its labels from the batch", ("loss-weight",))
    return Verdict("tensor-left-behind", "", ("module-left-behind", "attribute-left-behind"))


_NO_TENSOR = frozenset(("device", "dtype", "shape", "training", "args", "config", "cfg", "opt", "hparams", "params"))
_ASKED = frozenset(("size", "shape", "device", "dtype", "dim", "ndim", "numel", "item", "training"))


def _attributes(text: str) -> tuple[str, ...]:
    """The attributes of self that a line computes with: neither called, nor asked for a size."""
    tree = _parsed(text)
    if tree is None:
        return ()
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    asked = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in _ASKED}
    held = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    operands: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp):
            operands |= {id(node.left), id(node.right)}
        elif isinstance(node, ast.Compare):
            operands |= {id(node.left), *map(id, node.comparators)}
        elif isinstance(node, ast.Subscript) and id(node) in operands:
            operands.add(id(node.value))
        elif isinstance(node, ast.Call):
            operands |= {id(argument) for argument in node.args}
    found = []
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
            and isinstance(node.ctx, ast.Load)
            and id(node) in operands
            and id(node) not in called | asked | held
            and node.attr not in _NO_TENSOR
        ):
            found.append(node.attr)
    return tuple(dict.fromkeys(found))


def _parsed(text: str) -> ast.AST | None:
    """The tree of a line that may be part of a statement."""
    if len(text) > 1000:
        return None
    bare = text.strip().rstrip("\\").strip()
    for candidate in (bare, bare + " pass", bare + ")", bare + "]", f"({bare}", bare.rstrip(",") + ")"):
        try:
            return ast.parse(candidate)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None
