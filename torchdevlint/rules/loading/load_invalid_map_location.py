"""TDL103."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.rules.rule import ERROR, NodeFix, Report, Rule, on_call

# Location tags that torch restores to (torch/serialization.py, `register_package`); other types may be added by extensions.
_KNOWN = re.compile(
    r"(?:cpu|meta|mps|(?:cuda|xpu|hpu|mtia|xla|ipu|hip|npu|mlu|musa|maia|dml|privateuseone)(?::\d+)?)\Z"
)
_INDEXED = frozenset({"cuda", "xpu"})

Fix = Callable[[], "NodeFix | None"]


class LoadInvalidMapLocation(Rule):
    """Finds values of `map_location` that can never work.

    ## What it does
    Reports an int, bytes, a device string that PyTorch does not know (`"gpu"`), the CPU with an index (`"cpu:0"`), a dict whose values are
    `torch.device` objects, and a dict with a key that no tag can match (`"cuda"`: tags carry the index, `"cuda:0"`).

    ## Why is this bad?
    The load raises on every machine: `TypeError: 'int' object is not callable`, `RuntimeError: don't know how to restore data location
    of torch.storage.UntypedStorage (tagged with gpu)`. A dict key that never matches is ignored: the tensors go where they were saved from.

    ## Example
        state = torch.load(path, map_location=local_rank)

    ## Use instead
        state = torch.load(path, map_location=f"cuda:{local_rank}")

    ## When it stays silent
    Names whose type is not known; functions; dicts between strings with an index.

    ## Fix safety
    `"cpu:0"` to `"cpu"` and `torch.device(...)` values to strings are safe: the old line failed. A device string for an int is unsafe: it
    takes CUDA for granted.

    ## Proof
    The load raises on any machine; the repaired one gives the saved values.

    ## References
    torch/serialization.py (`_get_restore_location`).
    """

    code, name, severity = "TDL103", "load-invalid-map-location", ERROR
    fixable = "sometimes"

    @on_call("torch.load", "torch.serialization.load")
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        register = call.argument("map_location", 1)
        written = facts.definition(register)
        if register is None:
            return
        if isinstance(written, ir.Mapping):
            yield from self._check_mapping(call, written, facts)
        elif isinstance(written, ir.Constant):
            yield from self._check_literal(call, written)
        elif facts.value(register).kind is Kind.SCALAR and _is_certain(register, facts):
            name = facts.place(register)
            fix: Fix | None = (lambda: _replace(written, f'f"cuda:{{{name}}}"', Ground.WAKES_CODE)) if name else None
            spelled = f"`{name}`" if name else "the value"
            yield self.report(
                call,
                f"{spelled} is a number, which `map_location` does not take; "
                + (f'pass a device such as `f"cuda:{{{{{name}}}}}"`' if name else "pass a device"),
                detail="`map_location` calls whatever is no string, device or dict: this load raises "
                "\"TypeError: 'int' object is not callable\".",
                fix=fix,
            )
        elif (
            isinstance(written, ir.Call) and facts.callee(written) == "torch.device" and _has_cpu_index(written, facts)
        ):
            yield self._reported_cpu(call, written)

    def _check_literal(self, call: ir.Call, written: ir.Constant) -> Iterator[Report]:
        text = written.value
        if isinstance(text, (int, float, bytes)):
            kind = type(text).__name__
            raised = (
                "cannot use a string pattern on a bytes-like object"
                if kind == "bytes"
                else f"'{kind}' object is not callable"
            )
            yield self.report(
                call,
                f'`map_location` takes no {kind}; pass a device string such as "cuda:0"',
                detail=f'This load raises "TypeError: {raised}".',
            )
        elif isinstance(text, str) and re.match(r"cpu:\d+\Z", text):
            yield self._reported_cpu(call, written)
        elif isinstance(text, str) and not _KNOWN.match(text):
            yield self.report(
                call,
                f'PyTorch knows no device `{text}`; write "cuda" for a GPU'.replace("{", "{{").replace("}", "}}"),
                detail='This load raises "don\'t know how to restore data location".',
            )

    def _reported_cpu(self, call: ir.Call, written: ir.Op) -> Report:
        return self.report(
            call,
            'the CPU has no index in a checkpoint; write "cpu"',
            detail='This load raises "don\'t know how to restore data location ... (tagged with cpu:0)".',
            fix=lambda: _replace(written, '"cpu"', Ground.OLD_LINE_RAISED),
        )

    def _check_mapping(self, call: ir.Call, written: ir.Mapping, facts: Facts) -> Iterator[Report]:
        devices = [
            value
            for register in written.values
            if isinstance(value := facts.definition(register), ir.Call) and facts.callee(value) == "torch.device"
        ]
        keys = [facts.constant(key) for key in written.keys if key is not None]
        if devices:
            yield self.report(
                call,
                "a `map_location` dict holds strings, not `torch.device` objects; write the devices as strings",
                detail='A key that matches raises "TypeError: expected string or bytes-like object".',
                fix=lambda: _spell(devices, facts),
            )
        elif any(key in _INDEXED for key in keys):
            yield self.report(
                call,
                "a `map_location` key without an index matches no tensor; name the index (`cuda:0`)",
                detail="The location of a saved tensor always has an index, so the tensors go back to the device they were saved from. "
                '`map_location="cpu"` brings all of them to the CPU.',
            )


def _is_certain(register: ir.Register, facts: Facts) -> bool:
    """False for a parameter that only its default tells to be a number: callers may pass something else."""
    value = facts.value(register)
    if value.parameter:
        return any(
            p.name == value.parameter and p.annotation is not None and p.annotation.name == "int"
            for p in facts.body.parameters
        )
    return value.constant is not True and value.constant is not False


def _has_cpu_index(device: ir.Call, facts: Facts) -> bool:
    first = facts.constant(device.argument("device", 0) or device.keyword("type"))
    index = facts.constant(device.argument("index", 1))
    return isinstance(first, str) and (
        bool(re.match(r"cpu:\d+\Z", first)) or (first == "cpu" and isinstance(index, int))
    )


def _replace(written: ir.Op | None, text: str, ground: Ground) -> NodeFix | None:
    return NodeFix(ground, f"Map to `{text}`", builders.replace_expression(written, text))


def _spell(devices: list[ir.Call], facts: Facts) -> NodeFix | None:
    edits: builders.Edits | None = ()
    for device in devices:
        first = facts.constant(device.positional(0))
        if not isinstance(first, str) or len(device.arguments) != 1:
            return None
        edits = builders.combine(edits, builders.replace_expression(device, f'"{first}"'))
    return NodeFix(Ground.OLD_LINE_RAISED, "Spell the devices as strings", edits)
