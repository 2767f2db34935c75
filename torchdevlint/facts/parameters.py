"""What a parameter holds when its function starts: by annotation, default, use, and only then by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchdevlint.facts import class_shape, values
from torchdevlint.facts.devices import TOP, symbolic
from torchdevlint.facts.facts import ClassSummary
from torchdevlint.facts.naming import LOADER_NAME, looks_like_device
from torchdevlint.facts.scopes import default_of
from torchdevlint.facts.values import NOTHING, SCALAR, UNKNOWN, Evidence, Kind, Value, replace, tensor
from torchdevlint.program import ir
from torchdevlint.stubs.knowledge import modules

if TYPE_CHECKING:
    from torchdevlint.facts.analysis import FileFacts

_TENSOR_ANNOTATIONS = frozenset(
    "Tensor FloatTensor LongTensor BoolTensor IntTensor ByteTensor DoubleTensor Variable".split()
)
_OF_TENSORS = frozenset("shape dtype device sum mean max min reshape flatten transpose long squeeze abs".split())
_TRANSPARENT = frozenset("Optional Union | Annotated Final typing.Optional typing.Union t.Optional t.Union".split())


def annotated(analysis: FileFacts, annotation: ir.Annotation, name: str) -> Value | None:
    """The value that an annotation promises, or None when it says nothing of interest."""
    last = annotation.name.rpartition(".")[2]
    if last in _TENSOR_ANNOTATIONS:
        return tensor(symbolic(f"{name}.device"), evidence=Evidence.STRONG)
    if annotation.name in _TRANSPARENT or last in ("Optional", "Union"):
        inner = [annotated(analysis, argument, name) for argument in annotation.arguments if argument.name != "None"]
        kinds = {value.kind if value is not None else None for value in inner}
        if len(inner) >= 1 and len(kinds) == 1 and inner[0] is not None:
            return inner[0]
        if Kind.DEVICE in kinds:
            return Value(Kind.DEVICE, symbolic(name))
        return Value(Kind.OTHER) if None not in kinds and Kind.TENSOR not in kinds else UNKNOWN
    resolved = analysis.resolve_text(annotation.name)
    if resolved in ("torch.device", "torch.types.Device", "torch.types.DeviceLikeType") or last == "device":
        return Value(Kind.DEVICE, symbolic(name))
    if resolved == "torch.dtype":
        return values.DTYPE
    if resolved in ("int", "float", "bool"):
        return SCALAR
    if resolved == "str":
        return Value(Kind.DEVICE, symbolic(name)) if looks_like_device(name) else values.STRING
    if resolved in modules.LOADERS or last == "DataLoader":
        return Value(Kind.OTHER) if analysis.places_batches else Value(Kind.LOADER, evidence=Evidence.USAGE)
    if resolved in modules.MODULE_BASES or resolved == "torch.nn.Module" or last in ("PreTrainedModel",):
        return Value(Kind.MODULE, TOP, ref=name, evidence=Evidence.STRONG)
    own = next((cls for cls in analysis.program.classes if cls.name == resolved), None)
    if own is not None and analysis.summary_of(own).is_module:
        return Value(Kind.MODULE, TOP, ref=name, definition=own, evidence=Evidence.STRONG)
    if resolved.startswith("torch.optim."):
        return Value(Kind.OPTIMIZER, evidence=Evidence.STRONG)
    if last == "ndarray":
        return values.NDARRAY
    if last in ("BatchEncoding", "BatchFeature"):
        return Value(Kind.BATCH_ENCODING, TOP, evidence=Evidence.STRONG)
    if last in ("List", "list", "Sequence", "Tuple", "tuple", "Iterable"):
        element = annotated(analysis, annotation.arguments[0], name) if annotation.arguments else None
        if element is not None and element.is_tensor:
            return Value(Kind.LIST, element=replace(element, device=symbolic(f"{name}[0].device")))
        return Value(Kind.LIST, element=element) if element is not None and element.kind is Kind.SCALAR else UNKNOWN
    if last in ("Dict", "dict", "Mapping"):
        element = annotated(analysis, annotation.arguments[1], name) if len(annotation.arguments) == 2 else None
        if element is not None and element.is_tensor:
            return Value(Kind.DICT, element=replace(element, device=symbolic(f"{name}'s device")))
        return UNKNOWN
    if last in ("Any", "object", "?", "Callable", "None"):
        return None
    return UNKNOWN


def parameter_value(
    analysis: FileFacts, body: ir.Body, parameter: ir.Parameter, number: int, summary: ClassSummary | None
) -> Value:
    """What a parameter holds when the function starts: by annotation, default, use, and only then by name."""
    name = parameter.name
    body_index = analysis.index_of(body)
    if number == 0 and body_index.self_name == name and body.owner is not None:
        if body.is_class_method:
            return Value(Kind.CLASS, definition=body.owner)
        is_module = summary is not None and summary.is_module
        return Value(
            Kind.MODULE if is_module else Kind.INSTANCE,
            symbolic("self"),
            ref="self",
            definition=body.owner,
            evidence=Evidence.STRONG,
        )
    if parameter.kind == "*":
        return UNKNOWN
    if parameter.kind == "**":
        return Value(Kind.DICT)
    if parameter.annotation is not None:
        value = annotated(analysis, parameter.annotation, name)
        if value is not None:
            return replace(value, parameter=name) if value.kind is not Kind.UNKNOWN else Value(parameter=name)
    if looks_like_device(name):
        return Value(Kind.DEVICE, symbolic(name), parameter=name)
    default = _default(body, parameter)
    if default is not None and default.kind in (Kind.SCALAR, Kind.STRING):
        return replace(default, constant=NOTHING, device=TOP, parameter=name)
    use = body_index.use(name)
    kind, evidence = use.kind() if not use.is_converted else (Kind.UNKNOWN, Evidence.NONE)
    in_forward = summary is not None and summary.is_module and body.name == "forward"
    if kind is Kind.TENSOR:
        if in_forward and default is None and use.arithmetic and not use.host_argument:
            evidence = max(evidence, Evidence.USAGE)
        return tensor(symbolic(f"{name}.device"), parameter=name, evidence=evidence)
    if kind is Kind.MODULE:
        return Value(Kind.MODULE, TOP, ref=name, evidence=evidence, parameter=name)
    if kind is Kind.OPTIMIZER:
        return Value(Kind.OPTIMIZER, evidence=evidence, parameter=name)
    if (
        in_forward
        and default is None
        and not use.called
        and not use.host_argument
        and (use.module_argument or use.method_argument or use.arithmetic)
    ):
        return tensor(symbolic(f"{name}.device"), parameter=name, evidence=Evidence.USAGE)
    if (
        kind is Kind.UNKNOWN
        and not use.called
        and not use.host_argument
        and (use.arithmetic or use.attributes & _OF_TENSORS)
        and _is_given_tensor(analysis, body, parameter)
    ):
        return tensor(symbolic(f"{name}.device"), parameter=name, evidence=Evidence.USAGE)
    if LOADER_NAME.search(name) and not analysis.places_batches:
        return Value(Kind.LOADER, evidence=Evidence.NAME, parameter=name)
    if name in ("model", "net", "network") and use.called:
        return Value(Kind.MODULE, TOP, ref=name, evidence=Evidence.NAME, parameter=name)
    if body.name == "update" and summary is not None and class_shape.is_ignite_metric(summary):
        # The engine's output, `(y_pred, y)`: what is used like a tensor is one.
        return Value(Kind.LIST, element=tensor(symbolic(f"{name}[0].device"), evidence=Evidence.NAME), parameter=name)
    return Value(parameter=name)


def _is_given_tensor(analysis: FileFacts, body: ir.Body, parameter: ir.Parameter) -> bool:
    """True when a call in the file gives this parameter what is certainly a tensor, and none gives it a constant."""
    told = False
    for around, _, register in analysis.calls_of(body, parameter.name):
        if register is not None:
            if isinstance(around.definitions[register], ir.Constant):
                return False
            given = analysis.frame_of(around.body).values[register]
            told = told or (given.kind is Kind.TENSOR and given.evidence >= Evidence.USAGE)
    return told


def _default(body: ir.Body, parameter: ir.Parameter) -> Value | None:
    definition = default_of(body, parameter)
    if isinstance(definition, ir.Constant):
        constant = definition.value
        if isinstance(constant, (bool, int, float)):
            return Value(Kind.SCALAR, constant=constant)
        if isinstance(constant, str):
            return Value(Kind.STRING, constant=constant)
        if constant is None:
            return values.NONE
    return None
