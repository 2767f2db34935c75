"""Parameters whose default value is an accelerator, and where the function places something on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torchdevlint.flow.facts import Facts
from torchdevlint.flow.knowledge import functions
from torchdevlint.flow.naming import looks_like_device
from torchdevlint.program import ir
from torchdevlint.rules.portability.literals import calls_collective, literal_device

# What takes CUDA by name on every machine: a GradScaler without it warns and does nothing.
HARMLESS = ("torch.amp.", "torch.autocast", "torch.cuda.")
# Positions of a device in functions that take it by position.
_POSITIONAL = {".to": 0, ".cuda": 0, ".to_empty": 0, "torch.device": 0, "torch.Generator": 0}


@dataclass(frozen=True, slots=True)
class DefaultDevice:
    """A parameter with an accelerator as its default; `op` is the default's expression."""

    function: ir.Body
    parameter: ir.Parameter
    op: ir.Op
    device: str


class DefaultDevices:
    """Collects, over one file, the device defaults that are used for placement as they came."""

    def __init__(self) -> None:
        self._used: dict[tuple[int, str], DefaultDevice] = {}
        self._stored: dict[tuple[int, str], DefaultDevice] = {}  # class and attribute
        self._read: set[tuple[int, str]] = set()
        self._asking: set[int] = set()

    def note_call(self, call: ir.Call, facts: Facts) -> None:
        """A call that may place something: does it do so on a default?"""
        callee = facts.callee(call)
        if callee in functions.AVAILABILITY:
            self._asking.add(id(facts.body))
        if callee.startswith(HARMLESS):
            return
        register = call.argument("device", _POSITIONAL.get(callee))
        written = facts.definition(register)
        if isinstance(written, ir.Load):
            found = _default_of(written.name, facts)
            if found is not None and not facts.guarded(found.device.partition(":")[0]) and not calls_collective(facts):
                self._used.setdefault((id(found.function), written.name), found)
        elif isinstance(written, ir.Attribute) and facts.value(written.object).ref == "self" and not facts.guarded():
            owner = facts.class_summary
            if owner is not None:
                self._read.add((id(owner.cls), written.name))

    def note_store(self, op: ir.StoreAttribute, facts: Facts) -> None:
        """`self.device = device` in a constructor."""
        written, owner = facts.definition(op.value), facts.class_summary
        if isinstance(written, ir.Call) and facts.callee(written) == "torch.device":
            written = facts.definition(written.argument("device", 0))
        if owner is None or not isinstance(written, ir.Load) or facts.guarded():
            return
        found = _default_of(written.name, facts)
        if found is not None:
            self._stored.setdefault((id(owner.cls), op.name), found)

    def found(self, facts: Facts) -> Iterator[DefaultDevice]:
        """The defaults that somebody meets who calls the function without a device, in the order of the file."""
        for place, default in self._stored.items():
            if place in self._read:
                self._used.setdefault((id(default.function), default.parameter.name), default)
        if not self._used:
            return
        # A script's own calls are all there are; a library's function has other callers than those of its file.
        is_script = facts.mentions("__name__", "parse_args", "argv")
        given = _arguments_given(facts) if is_script else _Given({}, {})
        wanted = [default for default in self._used.values() if not self._asks(default.function)]
        for body in facts.program.bodies:
            for default in wanted:
                if default.function is body and not given.gives(default):
                    yield default

    def _asks(self, body: ir.Body) -> bool:
        """True for a function that tests the machine, itself or in a function that it makes."""
        return id(body) in self._asking or any(self._asks(inner) for inner in body.functions)


@dataclass(frozen=True, slots=True)
class _Given:
    """What the calls of a file give, by the last name of the callee."""

    keywords: dict[str, set[str]]
    positions: dict[str, int]

    def gives(self, default: DefaultDevice) -> bool:
        """True when a call of the file gives the parameter by itself (not within `**settings`)."""
        body = default.function
        name = body.owner.name if body.owner is not None and body.name == "__init__" else body.name
        if default.parameter.name in self.keywords.get(name, ()):
            return True
        if default.parameter.kind == "keyword-only":
            return False
        position = [parameter.name for parameter in body.parameters].index(default.parameter.name)
        bound = 1 if body.owner is not None and "staticmethod" not in body.decorators else 0
        return self.positions.get(name, 0) > position - bound


def _arguments_given(facts: Facts) -> _Given:
    given = _Given({}, {})
    for body in facts.program.bodies:
        definitions = facts.analysis.index_of(body).definitions
        for block in body.blocks:
            for op in block.ops:
                if isinstance(op, ir.Call):
                    written = definitions[op.function]
                    if isinstance(written, (ir.Load, ir.Attribute)):
                        _note_given(given, written.name, op)
    return given


def _note_given(given: _Given, name: str, call: ir.Call) -> None:
    given.positions[name] = max(given.positions.get(name, 0), call.positional_count)
    for argument in call.arguments:
        if argument.keyword is not None:
            given.keywords.setdefault(name, set()).add(argument.keyword)


def _default_of(name: str, facts: Facts) -> DefaultDevice | None:
    """The accelerator that a name holds when the caller gives no other; None when the name is bound anew."""
    if not looks_like_device(name):
        return None
    body: ir.Body | None = facts.body
    while body is not None:
        for parameter in body.parameters:
            if parameter.name == name:
                return None if _is_rebound(name, body, facts) else _spelled(parameter, body, facts)
        if name in body.local_names and body.kind == "function":
            return None
        body = body.parent
    return None


def _is_rebound(name: str, body: ir.Body, facts: Facts) -> bool:
    """True when the function gives the name another value than `torch.device(name)`."""
    index = facts.analysis.index_of(body)
    if name not in index.stored:
        return False
    for block in body.blocks:
        for op in block.ops:
            if isinstance(op, ir.Store) and op.name == name:
                written = index.definitions[op.value]
                given = written.arguments if isinstance(written, ir.Call) else ()
                inner = index.definitions[given[0].value] if len(given) == 1 else None
                if not (isinstance(inner, ir.Load) and inner.name == name):
                    return True
    return False


def _spelled(parameter: ir.Parameter, body: ir.Body, facts: Facts) -> DefaultDevice | None:
    """The default of a parameter of a public function, where it is an accelerator spelled in place."""
    if parameter.default is None or body.parent is None or body.kind != "function" or not _is_public(body):
        return None
    definitions = facts.analysis.index_of(body.parent).definitions
    op = definitions[parameter.default]
    device = literal_device(op, definitions, facts.analysis)
    return None if op is None or device is None else DefaultDevice(body, parameter, op, device.name)


def _is_public(body: ir.Body) -> bool:
    """True for a function that others call: no leading underscore, no test, and no name that speaks of GPUs."""
    name = body.name
    words = body.qualname.lower()
    if name.startswith(("_", "test", "bench")) and name not in ("__init__", "__call__"):
        return False
    return not any(word in words for word in ("cuda", "gpu", "nvidia", "triton", "nccl", "bench", "<locals>"))
