"""Parameters whose default value is an accelerator, and where the function places something on them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from torchdevlint.facts.calls import Site, argument_given, called_as, calls_named, calls_of
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.naming import looks_like_device
from torchdevlint.facts.scopes import default_of, parameter_of, scopes_of
from torchdevlint.facts.spelled import accelerator_in
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import deciding_tests
from torchdevlint.rules.literals import calls_collective
from torchdevlint.stubs.knowledge import functions

# What takes CUDA by name on every machine: a GradScaler without it warns and does nothing, a `torch.device` places nothing.
HARMLESS = ("torch.amp.", "torch.autocast", "torch.cuda.", "torch.device")
# What loads or builds a model (no data loader) puts it on the device that it gets.
_LOADS = re.compile(r"(?:\A|_)(?:load|init|build|restore|from_pretrained)(?:_|\Z)")
# Positions of a device in functions that take it by position.
_POSITIONAL = {".to": 0, ".cuda": 0, ".to_empty": 0, "torch.Generator": 0}


class DefaultDevice(NamedTuple):
    """A parameter with an accelerator as its default; `op` is the default's expression."""

    function: ir.Body
    parameter: ir.Parameter
    op: ir.Op
    device: str


class _Use(NamedTuple):
    """A device that a call gets: of a parameter (`default` when it has one) or of an attribute; `callee` when another function of the file may place on it."""

    function: ir.Body
    name: str
    default: DefaultDevice | None
    attribute: tuple[int, str] | None
    callee: str


def is_always_given(default: DefaultDevice, facts: Facts) -> bool:
    """True for a parameter that every call of the project gives, of a function that no `__init__.py` offers to others."""
    function = default.function
    sites = list(calls_of(function, facts.analysis))
    given = bool(sites) and all(_gives(site, function, default.parameter.name) for site in sites)
    member = facts.analysis.member
    return given and member is not None and not member.project.is_offered(called_as(function), member.path)


def _gives(site: Site, function: ir.Body, parameter: str) -> bool:
    """True when a call gives a parameter, by keyword alone where it gives `*args` or `**kwargs` as well."""
    if site.call.has_splat:
        return site.call.keyword(parameter) is not None
    return argument_given(site, function, parameter) is not None


class DefaultDevices:
    """Collects, over one file, the device defaults that are used for placement as they came."""

    def __init__(self) -> None:
        self._uses: list[_Use] = []
        self._stored: dict[tuple[int, str], DefaultDevice] = {}  # class and attribute
        self._asking: set[int] = set()

    def note_call(self, call: ir.Call, facts: Facts) -> None:
        """A call that may place something: does it do so on a parameter, or on an attribute?"""
        callee = facts.callee(call)
        if callee in functions.AVAILABILITY:
            self._asking.add(id(facts.body))
        written = facts.definition(call.argument("device", _POSITIONAL.get(callee)))
        if not isinstance(written, (ir.Load, ir.Attribute)) or callee.startswith(HARMLESS):
            return
        if not looks_like_device(written.name) or facts.guarded() or _is_optional(facts) or calls_collective(facts):
            return
        through = "" if _places(callee, call, facts) else Lookup.of(facts.body).called(call) or "?"
        if isinstance(written, ir.Load):
            default = _default_of(written.name, facts)
            self._uses.append(_Use(facts.body, written.name, default, None, through))
        elif facts.value(written.object).ref == "self" and facts.class_summary is not None:
            self._uses.append(_Use(facts.body, "", None, (id(facts.class_summary.cls), written.name), through))

    def note_store(self, op: ir.StoreAttribute, facts: Facts) -> None:
        """`self.device = device` in a constructor."""
        written, owner = facts.definition(op.value), facts.class_summary
        if isinstance(written, ir.Call) and facts.callee(written) == "torch.device":
            written = facts.definition(written.argument("device", 0))
        if owner is None or not isinstance(written, ir.Load):
            return
        found = _default_of(written.name, facts)
        if found is not None and not facts.guarded():
            self._stored.setdefault((id(owner.cls), op.name), found)

    def found(self, facts: Facts) -> Iterator[DefaultDevice]:
        """The defaults that somebody meets who calls the function without a device, in the order of the file."""
        used = self._used()
        if not used:
            return
        # A script's own calls are all there are; a library's function has other callers than those of its file.
        is_script = facts.roles.is_script or facts.roles.is_program
        for body in facts.program.bodies:
            for default in used:
                if default.function is body and not self._asks(body) and not (is_script and _is_given(default, facts)):
                    yield default

    def _used(self) -> list[DefaultDevice]:
        """The defaults that something is placed on, here or in a function of the file that gets them."""
        if not self._stored and all(use.default is None for use in self._uses):
            return []
        placing = {(called_as(use.function), use.name) for use in self._uses if not use.callee and use.name}
        certain = [use for use in self._uses if not use.callee or (use.callee, use.name or "device") in placing]
        found = {(id(use.default.function), use.name): use.default for use in certain if use.default is not None}
        for use in certain:
            default = self._stored.get(use.attribute) if use.attribute is not None else None
            if default is not None:
                found.setdefault((id(default.function), default.parameter.name), default)
        return list(found.values())

    def _asks(self, body: ir.Body) -> bool:
        """True for a function that tests the machine, itself or in a function that it makes."""
        return id(body) in self._asking or any(self._asks(inner) for inner in body.functions)


def _is_given(default: DefaultDevice, facts: Facts) -> bool:
    """True when a call of the file gives the parameter, and for a function that is handed on as a value: who calls it is not seen."""
    function, analysis = default.function, facts.analysis
    name = called_as(function)
    if any(argument_given(site, function, default.parameter.name) is not None for site in calls_named(name, analysis)):
        return True
    return any(
        isinstance(op, (ir.Call, ir.Sequence, ir.Mapping, ir.Store)) and getattr(op, "function", None) != load.dst
        for lookup in map(Lookup.of, facts.program.bodies)
        for load in lookup.loads(name)
        for op in lookup.readers(load.dst)
    )


def _places(callee: str, call: ir.Call, facts: Facts) -> bool:
    """True for calls that place something on the device that they get: of torch, of tensors, and what loads or builds a model."""
    if callee in _POSITIONAL or callee.startswith(("torch.", ".new_")):
        return True
    return bool(_LOADS.search(Lookup.of(facts.body).called(call)))


def _is_optional(facts: Facts) -> bool:
    """True where a parameter that is off by default decides."""
    off = {
        parameter.name
        for parameter in facts.body.parameters
        if isinstance(default := default_of(facts.body, parameter), ir.Constant) and not default.value
    }
    tests = deciding_tests(facts.body, facts.block) if off else ()
    return any(facts.place(test) in off for test in tests)


def _default_of(name: str, facts: Facts) -> DefaultDevice | None:
    """The accelerator that a name holds when the caller gives no other; None when the name is bound anew."""
    if not looks_like_device(name):
        return None
    for body in scopes_of(facts.body):
        parameter = parameter_of(body, name)
        if parameter is not None:
            return None if _is_rebound(name, body, facts) else _spelled(parameter, body, facts)
        if name in body.local_names and body.kind == "function":
            return None
    return None


def _is_rebound(name: str, body: ir.Body, facts: Facts) -> bool:
    """True when the function gives the name another value than `torch.device(name)`."""
    index = facts.analysis.index_of(body)
    for value in index.bound_to(name):
        written = index.definitions[value]
        given = written.arguments if isinstance(written, ir.Call) else ()
        inner = index.definitions[given[0].value] if len(given) == 1 else None
        if not (isinstance(inner, ir.Load) and inner.name == name):
            return True
    return False


def _spelled(parameter: ir.Parameter, body: ir.Body, facts: Facts) -> DefaultDevice | None:
    """The default of a parameter of a public function, where it is an accelerator spelled in place."""
    if parameter.default is None or body.parent is None or body.kind != "function" or not _is_public(body):
        return None
    op = default_of(body, parameter)
    device = accelerator_in(parameter.default, body.parent, facts.analysis)
    return None if op is None or device is None else DefaultDevice(body, parameter, op, device.name)


def _is_public(body: ir.Body) -> bool:
    """True for a function that others call: no leading underscore, no test, and no name that speaks of GPUs."""
    name = body.name
    words = body.qualname.lower()
    if name.startswith(("_", "test", "bench")) and name not in ("__init__", "__call__"):
        return False
    return not any(word in words for word in ("cuda", "gpu", "nvidia", "triton", "nccl", "bench", "<locals>"))
