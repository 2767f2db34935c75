"""Transfer functions of modules, optimizers, tokenizers and what wraps them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from torchdevlint.flow.devices import CPU, TOP, Device, symbolic
from torchdevlint.flow.knowledge import functions, modules
from torchdevlint.flow.operands import Handler, combine, given_device, reference, reranked, tensors_in
from torchdevlint.flow.values import (
    AT_LEAST_ONE,
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


def torch_module(frame: Frame, op: ir.Call, name: str) -> Value:
    """An instance of a class of torch.nn; a loss keeps its CPU weight as `element`."""
    weight = None
    if name in modules.WEIGHTED_LOSSES:
        for register in (op.keyword("weight"), op.keyword("pos_weight"), op.positional(0)):
            if register is not None and frame.values[register].kind is Kind.TENSOR:
                weight = frame.values[register]
                break
    device = given_device(frame, op)
    return Value(
        Kind.MODULE, device, ref=reference(frame, op), evidence=Evidence.STRONG, symbol=name, origin=op, element=weight
    )


def called_after_move(value: Value, path: str) -> Value:
    """What `.to(device)` returned and is called: of all that can be moved, only a module can be called."""
    return Value(
        Kind.MODULE, value.device, ref=path, evidence=Evidence.USAGE, moved=value.moved, parameter=value.parameter
    )


def wrapped(frame: Frame, op: ir.Call) -> Value:
    """DataParallel and its kind: same parameters, inputs moved by the wrapper."""
    first = op.argument("module", 0)
    inner = frame.values[first] if first is not None else UNKNOWN
    return Value(
        Kind.MODULE, TOP, ref=inner.ref if inner.kind is Kind.MODULE else "", evidence=Evidence.STRONG, symbol="wrapper"
    )


def pretrained(frame: Frame, op: ir.Call, name: str) -> Value:
    device_map = op.keyword("device_map")
    quantized = op.keyword("load_in_8bit") or op.keyword("load_in_4bit") or op.keyword("quantization_config")
    if device_map is not None or quantized is not None or op.has_splat:
        return Value(
            Kind.MODULE, TOP, ref=reference(frame, op), evidence=Evidence.STRONG, symbol="dispatched", origin=op
        )
    return Value(
        Kind.MODULE,
        CPU,
        ref=reference(frame, op),
        evidence=Evidence.STRONG,
        symbol=name.removesuffix(".from_pretrained"),
        origin=op,
    )


def optimizer(frame: Frame, op: ir.Call, name: str) -> Value:
    """An optimizer over the parameters of some modules."""
    register = op.argument("params", 0)
    value = frame.values[register] if register is not None else UNKNOWN
    refs = value.refs if value.kind in (Kind.PARAMETERS, Kind.LIST) else ()
    return Value(Kind.OPTIMIZER, refs=refs, origin=op, symbol=name, evidence=Evidence.STRONG)


def returns_tensors(frame: Frame, op: ir.Call) -> bool:
    """True for a call that says `return_tensors="pt"`: a tokenizer's or processor's."""
    register = op.keyword("return_tensors")
    return register is not None and frame.values[register].constant == "pt"


def batch_encoding(frame: Frame, op: ir.Call) -> Value:
    """What a tokenizer returns."""
    if not returns_tensors(frame, op):
        return UNKNOWN
    return Value(Kind.BATCH_ENCODING, CPU, origin=op, evidence=Evidence.STRONG, ref=reference(frame, op))


def call_module(frame: Frame, op: ir.Call, module: Value) -> Value:
    """The output of a module: on its parameters' device."""
    device = frame.module_device(module)
    name = module.symbol
    inputs = _inputs(frame, op, module)
    if name in ("wrapper", "dispatched"):
        moved = next((value for value in inputs if value.moved is not None and value.device.may_be_accelerator), None)
        where = device if moved is None else moved.device
        return tensor(where, moved=op if moved else None, evidence=Evidence.USAGE, needs_grad=True)
    is_loss = name.startswith("torch.nn.") and name.endswith("Loss")
    has_weights = (
        not name.startswith("torch.nn.") or name in modules.LEAF_MODULES_WITH_WEIGHTS or name in modules.CONTAINERS
    )
    if (not name or name in modules.CONTAINERS) and module.definition is None and _TRANSFORMS.search(module.attribute):
        has_weights = False  # torchvision's transforms hold no tensors
    if is_loss:
        result = combine(inputs) if inputs else tensor(device)
        return replace(
            result,
            rank=0,
            needs_grad=True,
            group=None,
            origin=None,
            device=result.device if not result.is_fresh_cpu else TOP,
        )
    if not has_weights and inputs:
        return reranked(inputs[0], None)
    if module.definition is None and not name and takes_array(frame, op):
        return UNKNOWN
    followed: Value | None = None
    if device is CPU or device.place == "top":
        # An unmoved module may be moved elsewhere; its output follows its input.
        followed = next((v for v in inputs if v.moved is not None and v.device.may_be_accelerator), None)
        if device is CPU and inputs and all(v.device is CPU and not v.others for v in inputs):
            followed = inputs[0]
        elif device is CPU:
            followed = None
        device = followed.device if followed is not None else own_device(module, device)
    computes = name in _GIVE_A_TENSOR or _returns_own_tensor(frame, module)
    evidence = Evidence.STRONG if computes else Evidence.USAGE
    sure = max(module.evidence, Evidence.USAGE) if followed is not None and followed.moved else module.evidence
    return tensor(
        device,
        evidence=min(evidence, sure),
        moved=op if device.may_be_accelerator and (device.chosen or not device.name.startswith("next(")) else None,
        needs_grad=True,
    )


def takes_array(frame: Frame, op: ir.Call) -> bool:
    """True for a call with a NumPy array: no layer of torch computes with one, so the model is another library's, or makes its tensors itself."""
    return any(frame.values[argument.value].kind is Kind.NDARRAY for argument in op.arguments)


_TRANSFORMS = re.compile(r"transforms\Z|normaliz|resize|augment", re.IGNORECASE)
# What these give is one tensor that their own weights computed; a Sequential of anything else is rare.
_GIVE_A_TENSOR = modules.LEAF_MODULES_WITH_WEIGHTS | {"torch.nn.Sequential"}


def _returns_own_tensor(frame: Frame, module: Value) -> bool:
    """True for a module of this file whose `forward` gives one tensor that its own layers computed."""
    if module.definition is None or not frame.module_device(module).may_be_accelerator:
        return False
    forward = frame.analysis.summary_of(module.definition).method("forward")
    given = frame.analysis.returned_by(frame, forward) if forward is not None else UNKNOWN
    return (
        given.kind is Kind.TENSOR
        and not given.others
        and given.device.name == "self"
        and given.evidence >= Evidence.STRONG
    )


def own_device(module: Value, device: Device) -> Device:
    """The name of the device of a module that was made elsewhere: of an argument, or of an attribute."""
    if device is not TOP or module.origin is not None or not module.ref:
        return TOP
    if "#" in module.ref or "[" in module.ref:
        return TOP
    return symbolic(f"next({module.ref}.parameters()).device")


def _tensor_arguments(frame: Frame, op: ir.Call, module: Value) -> tuple[ir.Argument, ...]:
    """The arguments that share a device; a loss that is given four is a CTC loss, whatever it is called."""
    name = module.symbol
    if name.endswith("Loss") and len(op.arguments) > 3:
        name = "torch.nn.CTCLoss"
    host = [op.argument(keyword, at) for keyword, at in functions.HOST_ARGUMENTS.get(name, {}).items()]
    return tuple(
        argument
        for at, argument in enumerate(op.arguments)
        if argument.value not in host and not may_be_on_host(frame, module, argument, at)
    )


# Lengths are for `pack_padded_sequence`, slices and loops, which want them on the CPU or read them there.
_LENGTHS = re.compile(r"(?:\A|[._])(?:seq_?)?(?:lens?|lengths?|sizes|shapes)\Z")
# What tells of an index that it is read for its size alone.
_SIZES = frozenset({"shape", "size", "dim", "ndim", "numel", "dtype", "long"})


def may_be_on_host(frame: Frame, module: Value, argument: ir.Argument, at: int) -> bool:
    """True for an argument that `forward` moves, or only indexes with (a CPU index may meet any tensor), and for a foreign module's attention mask.

    transformers moves masks to the scores in some models (models/blip/modeling_blip_text.py: `attention_mask.to(attention_scores.device)`).
    """
    if argument.star:
        return False
    if _LENGTHS.search(argument.keyword or frame.place(argument.value)):
        return True
    if module.definition is None:
        return (argument.keyword or "").endswith("attention_mask")
    forward = frame.analysis.summary_of(module.definition).method("forward")
    if forward is None:
        return False
    names = [parameter.name for parameter in forward.parameters[1:]]
    name = argument.keyword or (names[at] if at < len(names) else "")
    index = frame.analysis.index_of(forward)
    if name and index.takes_from_anywhere(name):
        return True
    use = index.use(name)
    used = use.torch_argument or use.module_argument or use.method_argument or use.arithmetic or use.called
    if not name or used or use.attributes - _SIZES:
        return False
    indices = {op.index for op in index.definitions if isinstance(op, ir.Subscript)}
    indices |= {
        element.value
        for op in index.definitions
        if isinstance(op, ir.Sequence) and op.dst in indices
        for element in op.elements
    }
    return any(isinstance(op, ir.Load) and op.name == name and op.dst in indices for op in index.definitions)


def _inputs(frame: Frame, op: ir.Call, module: Value) -> list[Value]:
    """The tensors that a module is called with, also inside batches and `**inputs`."""
    inputs: list[Value] = []
    for argument in _tensor_arguments(frame, op, module):
        value = frame.values[argument.value]
        if value.kind is Kind.BATCH_ENCODING or (
            value.kind is Kind.BATCH and (not argument.star or value.evidence >= Evidence.STRONG)
        ):
            inputs.append(_encoded(value))
        elif argument.star == "**" and value.kind is Kind.DICT and value.element is not None and value.element.moved:
            inputs.append(tensor(value.element.device, moved=value.element.moved, evidence=Evidence.NAME))
        elif argument.star == "**" and value.kind is Kind.DICT:
            inputs += [
                entry for key, entry in value.entries if entry.kind is Kind.TENSOR and not _LENGTHS.search(str(key))
            ]
        elif not argument.star:
            inputs += tensors_in(frame, argument.value)
    return inputs


def _encoded(value: Value) -> Value:
    return tensor(value.device, rank=AT_LEAST_ONE, origin=value.origin, moved=value.moved, evidence=value.evidence)


def is_given(frame: Frame, module: Value) -> bool:
    """True for a module that a caller made, and placed where it wanted: an argument, of the function or of the constructor."""
    return (
        module.kind is Kind.MODULE
        and module.device is TOP
        and bool(module.parameter or module.attribute)
        and not _moved(frame, module)
    )


def place_of(frame: Frame, module: Value) -> Device:
    """Where a module's parameters are; those of an argument have a device of their own name."""
    return (
        symbolic(f"next({module.ref}.parameters()).device") if is_given(frame, module) else frame.module_device(module)
    )


def _moved(frame: Frame, module: Value) -> bool:
    state = frame.env.get("@" + module.ref) if module.ref else None
    return state is not None


def copied(frame: Frame, op: ir.Call, name: str) -> Value:
    first = op.positional(0)
    value = frame.values[first] if first is not None else UNKNOWN
    if value.kind is Kind.MODULE:
        return replace(value, device=frame.module_device(value), ref=reference(frame, op))
    return replace(value, group=None) if value.kind is Kind.TENSOR else value


def _extractor(frame: Frame, op: ir.Call, name: str) -> Value:
    """What gives the features of a model runs on the model's own layers, wherever they are (torchvision/models/feature_extraction.py)."""
    register = op.argument("model", 0)
    return frame.values[register] if register is not None else UNKNOWN


def _clip(frame: Frame, op: ir.Call, name: str) -> Value:
    """OpenAI's `clip.load`: a model on `device` (by default on CUDA where there is one), and a transform that ends in ToTensor."""
    device = frame.device_argument(op.argument("device", 1))
    model = Value(Kind.MODULE, device, ref=reference(frame, op), evidence=Evidence.STRONG, symbol=name, moved=op)
    return Value(Kind.TUPLE, items=(model, Value(Kind.OTHER, symbol="torchvision.transforms.ToTensor")))


def _token_ids(frame: Frame, op: ir.Call, name: str) -> Value:
    return tensor(CPU, rank=2, origin=op, evidence=Evidence.STRONG)


EXACT: dict[str, Handler] = {
    "clip.load": _clip,
    "torchvision.models.feature_extraction.create_feature_extractor": _extractor,
    "torchvision.models._utils.IntermediateLayerGetter": _extractor,
    "clip.tokenize": _token_ids,
    "open_clip.tokenize": _token_ids,
}
