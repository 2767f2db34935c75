"""TDL512."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.rules.rule import ERROR, NodeFix, Report, Rule, on_call, on_method
from torchdevlint.stubs.knowledge import functions, modules

# c10/core/Device.cpp (parse_type), torch 2.13.
_TYPES = frozenset(
    "cpu cuda ipu xpu mkldnn opengl opencl ideep hip ve fpga maia xla lazy vulkan mps meta hpu mtia privateuseone".split()
)
_SHAPE = re.compile(r"([a-z_]+)(?::(0|[1-9][0-9]*))?\Z")
_LIKE_A_DEVICE = re.compile(r"(?:gpu|cuda|cpu|mps|xpu|tpu)", re.IGNORECASE)
_MOST_DIGITS = 10  # c10::Device parses an int32; Python itself converts no more than 4,300
_MOST = 127  # the index is an int8: larger ones wrap around
_MEANT = {
    "gpu": "cuda",
    "nvidia": "cuda",
    "rocm": "cuda",
    "amd": "cuda",
    "metal": "mps",
    "apple": "mps",
    "intel": "xpu",
    "auto": "",
    "none": "",
    "": "",
}


class InvalidDeviceString(Rule):
    """Finds device strings that torch does not know.

    ## What it does
    Checks string literals in device positions (`torch.device(...)`, `.to(...)`, `.cuda(...)`, `device=` of torch's functions and
    modules) against the types that torch parses and the form `type:index`. Also an index given twice, and one that is negative or
    above 127.

    ## Why is this bad?
    `RuntimeError: Expected one of cpu, cuda, ipu, xpu, ... device type at start of device string: gpu`, or `Invalid device string:
    'cuda0'`, on every machine. An index above 127 wraps around without a word: `torch.device("cuda:300")` has the index 44.

    ## Example
        device = torch.device("gpu")

    ## Use instead
        device = torch.device("cuda")

    ## When it stays silent
    Other words, which may be the name of a plug-in's backend (`npu`, `mlu`, `tpu`), arguments of other libraries, `.to("...")` of
    unknown objects unless the text looks like a device.

    ## Fix safety
    Unsafe: what was meant is a guess.

    ## Proof
    The call raises on every machine.

    ## References
    c10/core/Device.cpp (parse_type).
    """

    code, name, severity = "TDL512", "invalid-device-string", ERROR
    fixable = "sometimes"

    @on_call("torch.device", "torch.set_default_device", "torch.Generator")
    @on_method("to", "cuda")
    def check_argument(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        register = call.argument("device", 0)
        yield from self._check(call, call.keyword("type") if register is None else register, facts)

    @on_call(*sorted(functions.FACTORIES | functions.LIKE_FACTORIES | modules.LEAF_MODULES_WITH_WEIGHTS))
    @on_method("new_zeros", "new_ones", "new_full", "new_empty", "new_tensor")
    def check_keyword(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        yield from self._check(call, call.keyword("device"), facts)

    def _check(self, call: ir.Call, register: ir.Register | None, facts: Facts) -> Iterator[Report]:
        name = facts.callee(call)
        if register is None or facts.in_try_catching("RuntimeError", "Exception"):
            return
        strict = name not in (".to", ".cuda") or facts.value(facts.receiver(call)).kind in (Kind.TENSOR, Kind.MODULE)
        for op, text in _literals(register, facts):
            fault = _fault(text, facts)
            if fault is None or not (strict or _LIKE_A_DEVICE.match(text)):
                continue
            message, detail = fault
            yield self.report(op, message, detail=detail, fix=lambda op=op, text=text: _fix(op, text))  # type: ignore[misc]
        index = call.argument("index", 1) if name == "torch.device" else None
        if index is not None:
            yield from self._index(call, register, index, facts)

    def _index(self, call: ir.Call, register: ir.Register, index: ir.Register, facts: Facts) -> Iterator[Report]:
        number = facts.constant(index)
        text = facts.constant(register)
        if isinstance(text, str) and ":" in text:
            yield self.report(
                call,
                "the device index is given twice; give it once",
                detail='This raises "type (string) must not include an index because index was passed explicitly".',
            )
        elif isinstance(number, int) and not isinstance(number, bool) and number < 0:
            yield self.report(
                call,
                "a device index cannot be negative; write 0 or above",
                detail='This raises "Device index must not be negative".',
            )


def _literals(register: ir.Register | None, facts: Facts) -> Iterator[tuple[ir.Op, str]]:
    """The string literals that an expression may be."""
    written = facts.definition(register)
    if isinstance(written, ir.Constant) and isinstance(written.value, str):
        yield written, written.value
    elif isinstance(written, ir.Choice):
        for value in written.values:
            yield from _literals(value, facts)


def _fault(text: str, facts: Facts) -> tuple[str, str] | None:
    """What is wrong with a device string, as message and detail."""
    match = _SHAPE.match(text)
    shown = text.replace("{", "{{").replace("}", "}}")
    if match is None and (":" in text or text.rstrip("0123456789-") in _TYPES):
        form = f"torch does not know the device `{shown}`; write the type and an index, as in `cuda:0`"
        return form, f"This raises \"Invalid device string: '{shown}'\"."
    kind = match.group(1) if match is not None else text
    if kind in _TYPES:
        index = match.group(2) if match is not None else None
        if index is not None and len(index) > _MOST_DIGITS:
            return (
                f"no device index has {len(index)} digits; write one as in `cuda:0`",
                'This raises "Could not parse device index".',
            )
        if index is not None and int(index) > _MOST:
            return (
                f"the index of `{shown}` wraps around to another GPU; write one below 128",
                "A device index is an int8.",
            )
        return None
    if kind not in _MEANT and kind.lower() not in (*_TYPES, "gpu", "nvidia"):
        return None  # a backend that a plug-in may have named
    if facts.mentions("rename_privateuse1_backend"):
        return None
    if not text:
        return (
            "an empty string names no device; write one such as `cpu`",
            'This raises "Device string must not be empty".',
        )
    meant = _MEANT.get(kind.lower()) or (kind.lower() if kind.lower() in _TYPES else None)
    raised = f'This raises "Expected one of cpu, cuda, ... device type at start of device string: {shown}".'
    return f"torch does not know the device `{shown}`; write `{meant or 'cuda'}`", raised


def _fix(op: ir.Op, text: str) -> NodeFix | None:
    kind, colon, index = text.partition(":")
    meant = _MEANT.get(kind.lower()) or (kind.lower() if kind.lower() in _TYPES else None)
    if meant is None or (colon and not index.isdigit()):
        return None
    if f"{meant}{colon}{index}" == text:
        return None
    return NodeFix(Ground.WAKES_CODE, f"Write `{meant}`", builders.replace_expression(op, f'"{meant}{colon}{index}"'))
