"""TDL511."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from torchdevlint.facts.cuda_alone import needs_cuda_anyway
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.rule import (
    WARNING,
    NodeFix,
    Report,
    Rule,
    on_attribute,
    on_call,
    on_file,
    on_method,
    on_op,
)
from torchdevlint.stubs.knowledge.functions import ASKING
from torchdevlint.stubs.knowledge.platforms import is_extension

_DTYPES = {
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "BFloat16Tensor": "bfloat16",
    "LongTensor": "int64",
    "IntTensor": "int32",
    "ShortTensor": "int16",
    "CharTensor": "int8",
    "ByteTensor": "uint8",
    "BoolTensor": "bool",
}
_CONSTRUCTORS = tuple("torch.cuda." + name for name in _DTYPES)
_HOST_CONSTRUCTORS = ("torch.Tensor", *("torch." + name for name in _DTYPES))
_UNAVAILABLE = '"type torch.cuda.{name} not available. Torch not compiled with CUDA enabled"'


_EQUALS = frozenset({"==", "!=", "is", "is not", "in", "not in"})
_MANY_GPUS = ("init_process_group", "get_world_size", "all_gather", "all_reduce", "nccl")


class _Found(NamedTuple):
    op: ir.Op
    message: str
    detail: str
    guarded: bool
    fix: Callable[[], NodeFix | None] | None


_TOLD = "CUDA works there, or another line has told of it"


class LegacyCudaTensorType(Rule):
    """Finds tensor types of `torch.cuda`, which exist only where CUDA does.

    ## What it does
    Reports `torch.cuda.FloatTensor(...)`, `x.type(torch.cuda.FloatTensor)` (also as a string), other uses of these types,
    `torch.set_default_tensor_type(...)`, and `torch.FloatTensor(..., device=device)` for any device that is not certainly the CPU. Also
    `type(x) is torch.cuda.FloatTensor` and `x.type() == torch.cuda.FloatTensor`, which no tensor makes true.

    ## Why is this bad?
    On a CPU build it raises `TypeError: type torch.cuda.FloatTensor not available. Torch not compiled with CUDA enabled.`, and
    other accelerators are shut out. `torch.set_default_tensor_type` is deprecated since torch 2.1. The host's legacy constructors
    take no other device: `RuntimeError: legacy constructor expects device type: cpu but device type: cuda was passed`.
    Since torch 0.4 the class of a tensor is `torch.Tensor` and `x.type()` is a string: neither equals one of these types on any device.

    ## Example
        weights = torch.cuda.FloatTensor([1.0, 2.0])

    ## Use instead
        weights = torch.tensor([1.0, 2.0], dtype=torch.float32, device=device)

    ## When it stays silent
    `isinstance(x, torch.cuda.FloatTensor)`, comparisons of `x.type()` with a string, and types for annotations. It is a note behind an availability test,
    where the code runs everywhere and is only old, and where CUDA is needed anyway.

    ## Fix safety
    A constructor on a list becomes `torch.tensor(..., dtype=..., device="cuda")`, and one on several sizes `torch.empty` with the same, which
    is safe. (A tuple of sizes, `FloatTensor((batch, 1))`, is taken for values and hardly ever meant so: no fix is made.) One with `device=` becomes
    `torch.tensor` too, which is unsafe: it wakes a line that raised.
    A comparison becomes `x.type() == "torch.cuda.FloatTensor"`, which is unsafe.
    `set_default_tensor_type(torch.cuda.FloatTensor)` becomes `set_default_dtype` and `set_default_device`, which is unsafe: the default
    device reaches more factories.

    ## Proof
    The constructor raises on a machine without CUDA; `torch.tensor(..., device=device)` runs there.

    ## References
    torch/csrc/tensor/python_tensor.cpp, torch/__init__.py (set_default_tensor_type), torch/csrc/utils/tensor_new.cpp (legacy_tensor_ctor).
    """

    code, name, severity = "TDL511", "legacy-cuda-tensor-type", WARNING
    fixable = "sometimes"

    def __init__(self) -> None:
        self._found: list[_Found] = []
        self._asks = False

    def _note(
        self,
        op: ir.Op,
        message: str,
        detail: str,
        *,
        guarded: bool,
        fix: Callable[[], NodeFix | None] | None = None,
    ) -> None:
        self._found.append(_Found(op, message, detail, guarded, fix))

    @on_call(*ASKING)
    def note_test(self, call: ir.Call, facts: Facts) -> None:
        self._asks = True

    @on_file
    def tell(self, facts: Facts) -> Iterator[Report]:
        told = False
        cuda_alone = facts.mentions(*_MANY_GPUS) or _has_cuda_extension(facts)
        for found in self._found:
            # A file that never asks for CUDA has made one decision: one warning, the rest are notes.
            warn = not found.guarded and not cuda_alone and (self._asks or not told)
            told = told or warn
            yield self.report(found.op, found.message, detail=found.detail, case="" if warn else _TOLD, fix=found.fix)

    @on_call(*_CONSTRUCTORS)
    def check_constructor(self, call: ir.Call, facts: Facts) -> None:
        last = (facts.qualified(call.function) or "").rpartition(".")[2]
        written = facts.definition(call.function)
        if not isinstance(written, (ir.Load, ir.Attribute)) or written.name != last:
            return  # a name for the type: reported where it was bound
        self._note(
            call,
            f"`torch.cuda.{last}(...)` needs CUDA; write {_factory(call, 'torch.' + _DTYPES[last], facts)}",
            f"A CPU build raises {_UNAVAILABLE.format(name=last)}.",
            guarded=_is_meant(call, facts) or _is_kernel(facts),
            fix=lambda: _modern(call, last, facts),
        )

    @on_attribute(*_DTYPES)
    def check_use(self, op: ir.Attribute, facts: Facts) -> None:
        if facts.qualified(op.dst) != f"torch.cuda.{op.name}" or _is_called_or_compared(op.dst, facts):
            return
        self._note(
            op,
            f"`torch.cuda.{op.name}` needs CUDA; use a dtype and a device (`.to(device, torch.{_DTYPES[op.name]})`)",
            f"On a CPU build a call of it raises {_UNAVAILABLE.format(name=op.name)}, and `.type()` with it "
            '"Cannot initialize CUDA without ATen_cuda library".',
            guarded=_is_meant(op, facts),
        )

    @on_op(ir.Compare)
    def check_comparison(self, compare: ir.Compare, facts: Facts) -> Iterator[Report]:
        asked = _asks_for_class(compare, facts)
        if asked is None:
            return
        is_negated = compare.operators[0] in ("!=", "is not", "not in")
        place = facts.place(asked.of) or "x"
        yield self.report(
            compare,
            f"no tensor has the class `{asked.names[0]}`, so this is always {is_negated}; ask `{place}.is_cuda`",
            detail="The class of a tensor is `torch.Tensor` on every device, and its `.type()` is a string.",
            fix=lambda: _ask_for_the_name(compare, asked, facts),
        )

    @on_method("type")
    def check_string(self, call: ir.Call, facts: Facts) -> None:
        text = facts.constant(call.argument("dtype", 0))
        if (
            not isinstance(text, str)
            or not text.startswith("torch.cuda.")
            or facts.value(facts.receiver(call)).kind is Kind.STRING
        ):
            return
        self._note(
            call,
            f"`.type({text!r})` needs CUDA; use a dtype and a device (`.to(device, dtype)`)",
            "On a CPU build it raises.",
            guarded=_is_meant(call, facts),
        )

    @on_call("torch.set_default_tensor_type")
    def check_default(self, call: ir.Call, facts: Facts) -> None:
        spelled = facts.qualified(call.argument("t", 0)) or facts.constant(call.argument("t", 0))
        is_cuda = isinstance(spelled, str) and spelled.startswith("torch.cuda.")
        if facts.rules_out_torch(2, 1):  # nothing is deprecated there
            if is_cuda:
                self._note(
                    call,
                    f"`torch.set_default_tensor_type` with `{spelled}` needs CUDA; create tensors with `dtype=` and `device=`",
                    "On a CPU build it raises.",
                    guarded=_is_meant(call, facts),
                )
            return
        effect = (
            "On a CPU build it raises, and a DataLoader that shuffles raises \"Expected a 'cuda' device type for generator but found 'cpu'\"."
            if is_cuda
            else "It only sets the default dtype."
        )
        self._note(
            call,
            "`torch.set_default_tensor_type` is deprecated (torch 2.1); create tensors with `dtype=` and `device=`",
            effect,
            guarded=not is_cuda or _is_meant(call, facts),
            fix=lambda: _defaults(call, spelled, facts),
        )

    @on_call(*_HOST_CONSTRUCTORS)
    def check_device(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        register = call.keyword("device")
        if register is None:
            return
        device = facts.device_of(register)
        if device.place == "cpu" or facts.value(register).kind is Kind.NONE or facts.in_try_catching("RuntimeError"):
            return
        name = (facts.qualified(call.function) or "").rpartition(".")[2]
        is_literal = device.is_accelerator or device.place == "meta"
        passed = device.type if is_literal else "cuda"
        dtype = f"torch.{_DTYPES.get(name, 'float32')}"
        raises = f'raises "legacy constructor expects device type: cpu but device type: {passed} was passed"'
        yield self.report(
            call,
            f"`torch.{name}` makes CPU tensors alone; use {_factory(call, dtype, facts)}",
            detail=f"`device=` {raises}{'' if is_literal else ' as soon as it is a GPU'}.",
            fix=lambda: _with_device(call, name, facts),
        )


class _Asked(NamedTuple):
    """A comparison with types of `torch.cuda`: of which object the class is asked, the types, and whether they stand on the right."""

    of: ir.Register
    names: list[str]
    is_right: bool


def _asks_for_class(compare: ir.Compare, facts: Facts) -> _Asked | None:
    """`type(x) is torch.cuda.FloatTensor`, `x.type() in (torch.cuda.FloatTensor, ...)`; None for any other comparison."""
    if len(compare.comparators) != 1 or compare.operators[0] not in _EQUALS:
        return None
    sides = compare.left, compare.comparators[0]
    for is_right, (asked, types) in ((True, sides), (False, sides[::-1])):
        of = _whose_type(asked, facts)
        names = [facts.qualified(register) or "" for register in _each(types, facts)] if of is not None else []
        if of is not None and names and set(names).issubset(_CONSTRUCTORS):
            return _Asked(of, names, is_right)
    return None


def _whose_type(register: ir.Register, facts: Facts) -> ir.Register | None:
    """The object in `type(x)` and in `x.type()`; None for anything else."""
    call = facts.definition(register)
    if not isinstance(call, ir.Call):
        return None
    if facts.callee(call) == ".type":
        return None if call.arguments else facts.receiver(call)
    is_asked = facts.callee(call) == "builtins.type" and len(call.arguments) == 1
    return call.positional(0) if is_asked else None


def _each(register: ir.Register, facts: Facts) -> list[ir.Register]:
    """The items of a display, or what stands there alone."""
    written = facts.definition(register)
    return [element.value for element in written.elements] if isinstance(written, ir.Sequence) else [register]


def _ask_for_the_name(compare: ir.Compare, asked: _Asked, facts: Facts) -> NodeFix | None:
    """`x.type() == "torch.cuda.FloatTensor"`, which is what the comparison was meant to ask."""
    if not facts.place(asked.of) or not asked.is_right:
        return None
    operator = {"is": "==", "is not": "!="}.get(compare.operators[0], compare.operators[0])
    spelled = [f'"{name}"' for name in asked.names]
    right = f"({', '.join(spelled)})" if "in" in operator.split() else spelled[0]
    text = f"{facts.place(asked.of)}.type() {operator} {right}"
    return NodeFix(Ground.CHANGES_A_RUN, "Ask for the name of the type", builders.replace_expression(compare, text))


def _is_meant(op: ir.Op, facts: Facts) -> bool:
    """True behind an availability test, and in code that has no other place to run."""
    return facts.guarded("cuda") or needs_cuda_anyway(facts.body, facts.analysis, op)


def _is_kernel(facts: Facts) -> bool:
    """True in a `torch.autograd.Function`: on a CUDA type it is the frame of a CUDA kernel, which takes no other tensor."""
    summary = facts.class_summary
    return summary is not None and any(base.endswith("autograd.Function") for base in summary.bases)


def _has_cuda_extension(facts: Facts) -> bool:
    """True for a file that imports kernels: it is about CUDA and nothing else."""
    kernels = any("cuda" in name.lower() and not name.startswith("torch.cuda") for name in facts.program.imported)
    return (
        kernels
        or facts.imports("triton", "cupy", "torch.utils.cpp_extension")
        or any(is_extension(name) for name in facts.program.imported)
    )


def _is_called_or_compared(register: ir.Register, facts: Facts) -> bool:
    """True for a constructor call (reported as such), `isinstance(x, torch.cuda.FloatTensor)`, `x.type() == ...` and `Union[torch.cuda.FloatTensor]`."""
    lookup = Lookup.of(facts.body)
    held = lookup.trail(register)
    for op in held:
        if isinstance(op, ir.Sequence):
            held.add(op.dst)
        elif isinstance(op, ir.Call):
            if op.function == register:
                return True
            if any(argument.value in held for argument in op.arguments):
                return lookup.called(op) in ("isinstance", "issubclass", "set_default_tensor_type")
        elif (
            (isinstance(op, ir.Subscript) and op.index in held and op.object != register)
            or isinstance(op, ir.Compare)
            or (isinstance(op, ir.Attribute) and op.object == register)
        ):
            return True
    return False


def _factory(call: ir.Call, dtype: str, facts: Facts) -> str:
    """The call of today, for a message: of values, of sizes, or of both where nothing tells what is given."""
    if _is_of_sizes(call, facts):
        return f"`torch.empty(..., dtype={dtype}, device=...)`"
    given = facts.value(call.positional(0)).kind if call.positional_count == 1 else Kind.UNKNOWN
    if given in (Kind.LIST, Kind.TUPLE, Kind.NDARRAY):
        return f"`torch.tensor(..., dtype={dtype}, device=...)`"
    return "`torch.tensor` (`torch.empty` for a size) with `device=...`"


def _is_of_sizes(call: ir.Call, facts: Facts) -> bool:
    """True for `FloatTensor(2, 3)`: more than one argument, or a lone number or shape, is the size of a tensor without values (`legacy_tensor_ctor`)."""
    given = [argument for argument in call.arguments if argument.keyword != "device"]
    if any(argument.keyword is not None for argument in given):
        return False
    if len(given) == 1 and not given[0].star:
        return facts.value(given[0].value).kind in (Kind.SCALAR, Kind.SIZE)
    return True  # also `FloatTensor(*shape)`, and one without any argument


def _modern(call: ir.Call, last: str, facts: Facts) -> NodeFix | None:
    if not facts.place(call.function).startswith("torch."):
        return None
    options = f'dtype=torch.{_DTYPES[last]}, device="cuda"'
    if len(call.arguments) > 1 and all(argument.keyword is None and not argument.star for argument in call.arguments):
        sizes = ", ".join(
            builders.source_of(op) for a in call.arguments if (op := facts.definition(a.value)) is not None
        )
        edits = builders.replace_expression(call, f"torch.empty({sizes}, {options})")
        return NodeFix(Ground.SAME_OPERATION, "Create it with `torch.empty`", edits)
    first = facts.definition(call.positional(0))
    if not isinstance(first, ir.Sequence) or len(call.arguments) != 1 or _may_be_meant_as_a_size(first, facts):
        return None
    edits = builders.replace_expression(call, f"torch.tensor({builders.source_of(first)}, {options})")
    return NodeFix(Ground.SAME_OPERATION, "Create it with `torch.tensor`", edits)


def _may_be_meant_as_a_size(display: ir.Sequence, facts: Facts) -> bool:
    """True for `FloatTensor((batch, 1, 1))`: the constructor takes the numbers for values, and who writes it most often means a size."""
    return display.shape != "list" and not any(
        isinstance(facts.constant(element.value), float) or isinstance(facts.definition(element.value), ir.Sequence)
        for element in display.elements
    )


def _with_device(call: ir.Call, last: str, facts: Facts) -> NodeFix | None:
    """`torch.tensor` for a legacy constructor on a display, which raised for every device but the CPU."""
    first = facts.definition(call.positional(0))
    device = facts.definition(call.keyword("device"))
    if not isinstance(first, ir.Sequence) or len(call.arguments) != 2 or device is None:
        return None
    if _may_be_meant_as_a_size(first, facts):
        return None
    if not facts.place(call.function).startswith("torch."):
        return None
    dtype = f"torch.{_DTYPES[last]}" if last in _DTYPES else "torch.get_default_dtype()"
    text = f"torch.tensor({builders.source_of(first)}, dtype={dtype}, device={builders.source_of(device)})"
    return NodeFix(Ground.CHANGES_A_RUN, "Create it with `torch.tensor`", builders.replace_expression(call, text))


def _defaults(call: ir.Call, spelled: object, facts: Facts) -> NodeFix | None:
    last = spelled.rpartition(".")[2] if isinstance(spelled, str) else ""
    is_statement = any(isinstance(op, ir.Discard) for op in Lookup.of(facts.body).readers(call.dst))
    if last not in _DTYPES or not is_statement or not facts.place(call.function).startswith("torch."):
        return None
    dtype = f"torch.set_default_dtype(torch.{_DTYPES[last]})"
    if isinstance(spelled, str) and spelled.startswith("torch.cuda."):
        edits = builders.combine(
            builders.insert_statements_before(facts.program, call, dtype),
            builders.replace_expression(call, 'torch.set_default_device("cuda")'),
        )
    else:
        edits = builders.replace_expression(call, dtype)
    return NodeFix(Ground.CHANGES_A_RUN, "Set the default dtype and device", edits)
