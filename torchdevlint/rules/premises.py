"""What the calls of a project give to a function: the callers in this file and in the others decide where an argument lives.

A finding that rests on an argument says so with a `Premise`. In a file by itself the argument may be anywhere, and the finding stands. In a
project its callers can be asked: a finding for which each of them gives a CPU tensor is a note, and where they do not tell it is no error.
"""

from __future__ import annotations

import enum
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from torchdevlint.findings import Severity
from torchdevlint.flow.analysis import Analysis
from torchdevlint.flow.devices import Device, from_string
from torchdevlint.flow.facts import Facts
from torchdevlint.flow.frame import Frame
from torchdevlint.flow.values import UNKNOWN, Kind, Value, element_of
from torchdevlint.program import ir
from torchdevlint.program.project import Member, Project
from torchdevlint.rules.callers import files_calling
from torchdevlint.rules.structure import called_as

_MOST_FILES = 24  # who is called from more files than these is asked about in none of them
_DEPTH = 3  # callers of callers


class Given(enum.Enum):
    """Where the callers of a function say that an argument lives."""

    ACCELERATOR = "on an accelerator, or where the program chooses, in some call"
    HOST = "on the CPU in every call"
    UNKNOWN = "unknown in some call, on an accelerator in none"
    NOBODY = "no call is seen"


class Premise(NamedTuple):
    """A finding holds only if a caller of `body` gives something on an accelerator as `parameter` (or calls the method of such an object).

    An empty `parameter` stands for what no caller can tell.
    """

    body: ir.Body
    parameter: str

    def most_severe(self, facts: Facts) -> Severity:
        """How severe a finding that rests on it can be: a note where each call of the project gives what is on the CPU, a warning where calls do not tell.

        A module whose method it is may always be moved by those who are not seen.
        """
        member = facts.analysis.member
        if member is None:
            return Severity.ERROR
        given = given_by_callers(self, member)
        if given in (Given.ACCELERATOR, Given.HOST):
            return Severity.INFO if given is Given.HOST else Severity.ERROR
        of_module = self.body.owner is not None and facts.analysis.summary_of(self.body.owner).is_module
        of_self = of_module and self.parameter == facts.analysis.index_of(self.body).self_name
        return Severity.ERROR if of_self else Severity.WARNING


class _Call(NamedTuple):
    """One call of a file: the values that it gives, by position and by keyword; None where it gives `*args` or `**kwargs`."""

    caller: ir.Body
    positional: tuple[Value, ...]
    keywords: dict[str, Value] | None
    receiver: Value


@dataclass(frozen=True, slots=True)
class _File:
    """A file of the project, analysed, and its calls by the last name of what is called."""

    place: Member
    analysis: Analysis
    calls: dict[str, list[_Call]]


def premise_of(value: Value, facts: Facts) -> Premise | None:
    """What decides where a value lives that this function neither made nor moved: an argument, or the object whose method this is.

    None where the function itself tells, and for `forward`, whose module follows its inputs.
    """
    of_module = value.device.name == "self"  # also what its layers give
    if facts.frame is None or facts.in_forward or value.device.is_accelerator or (value.moved and not of_module):
        return None
    names = {parameter.name for parameter in facts.body.parameters}
    root = _root(value.device)
    decider = value.parameter or (root if root in names else "")
    if not decider and (value.attribute or root == "self"):
        decider = facts.analysis.index_of(facts.body).self_name or ""
        kept = premise_of_attribute(value.attribute or _attribute_named(value.device), facts)
        if kept is not None:
            return kept
    return Premise(facts.body, decider) if decider in names else None


def premise_of_attribute(name: str, facts: Facts) -> Premise | None:
    """What decides where an object that is no module keeps `self.name`: the argument of its constructor that it is, or is made of."""
    summary = facts.class_summary
    if summary is None or summary.is_module:
        return None
    stores = summary.stores_of(name)
    for store in stores:
        written = facts.analysis.index_of(store.body).definitions[store.op.value]
        source = store.value.parameter or (written.name if isinstance(written, ir.Load) else "")
        if store.body.name == "__init__" and len(stores) == 1 and any(p.name == source for p in store.body.parameters):
            return Premise(store.body, source)
    return None


def _attribute_named(device: Device) -> str:
    """The attribute that a device is read from: "x" of `self.x.device`."""
    _, _, rest = device.name.removeprefix("next(").partition(".")
    return re.split(r"[.\[(]", rest, maxsplit=1)[0]


def given_by_callers(premise: Premise, member: Member) -> Given:
    """What the calls in the project give; for a premise of the file `member`."""
    return _given(member, premise.body.qualname, premise.parameter, _DEPTH)


@lru_cache(maxsize=1024)
def _given(place: Member, qualname: str, parameter: str, depth: int) -> Given:
    file = _analysed(place)
    body = next((body for body in file.analysis.program.bodies if body.qualname == qualname), None) if file else None
    if file is None or body is None or depth == 0:
        return Given.UNKNOWN
    if file.analysis.summary_of(body.owner).is_module if body.owner is not None else False:
        assert body.owner is not None
        if body.name in file.analysis.summary_of(body.owner).forward_methods:
            return Given.ACCELERATOR  # a module's forward gets its inputs where the module is
    seen = Given.NOBODY
    for other, call in _calls_of(body, file):
        if _is_of_the_same_object(call, body, parameter, other, file):
            continue
        found = _judged(_argument(call, body, parameter, file), call.caller, other, depth)
        if found is Given.ACCELERATOR:
            return found
        seen = found if seen in (Given.NOBODY, found) else Given.UNKNOWN
    return seen


def _is_of_the_same_object(call: _Call, body: ir.Body, parameter: str, other: _File, file: _File) -> bool:
    """True for `Masks(self.masks[i])` in the methods of Masks itself, which is no module: who made the first one decides."""
    own = other.analysis.index_of(call.caller).self_name
    if (
        body.owner is None
        or body.name != "__init__"
        or call.caller.owner is not body.owner
        or not own
        or file.analysis.summary_of(body.owner).is_module
    ):
        return False
    given = _argument(call, body, parameter, file)
    of_itself = given is not None and (_root(given.device) == own or bool(given.attribute))
    return of_itself or (given is not None and given.kind is Kind.UNKNOWN)  # what it makes of itself


def _calls_of(body: ir.Body, file: _File) -> Iterator[tuple[_File, _Call]]:
    """The calls of a function or method in its project, and of a class for its constructor.

    Tests are no use of it: they run on the CPU what is meant for every device.
    """
    name, project = called_as(body), file.place.project
    paths = [path for path in files_calling(project, name) if path == file.place.path or not project.is_test(path)]
    if len(paths) > _MOST_FILES:
        return
    alone = _is_defined_once(project, name)
    for path in paths:
        other = _analysed(Member(project, path))
        for call in other.calls.get(name, ()) if other is not None else ():
            if other is not None and (alone or _leads_to(call, name, body, other, file)):
                yield other, call


def _leads_to(call: _Call, name: str, body: ir.Body, other: _File, file: _File) -> bool:
    """True when a name that several files define is the one of this file: by the class of the object, or by the import."""
    if body.owner is not None and body.name != "__init__":
        cls = call.receiver.definition
        return other.place == file.place and isinstance(cls, ir.Class) and cls.name == body.owner.name
    if other.place == file.place:
        return True
    dotted = other.analysis.aliases.get(name, "")
    return bool(dotted) and file.place.path in file.place.project.resolve(dotted, other.place.path)


@lru_cache(maxsize=1024)
def _is_defined_once(project: Project, name: str) -> bool:
    definition = re.compile(rf"\b(?:def|class)\s+{re.escape(name)}\b".encode())
    found = 0
    for path in project.holding((name.encode(),), definition):
        found += len(definition.findall(project.read(path)))
        if found > 1:
            return False
    return found == 1


@lru_cache(maxsize=256)
def _analysed(place: Member) -> _File | None:
    program = place.project.program(place.path)
    if program is None:
        return None
    analysis = Analysis(program, frozenset(), member=place)
    calls: dict[str, list[_Call]] = defaultdict(list)

    def sink_for(frame: Frame) -> Callable[[str, ir.Op, Any], None]:
        def sink(event: str, op: ir.Op, _: Any) -> None:
            if event == "before-call" and isinstance(op, ir.Call):
                written = frame.definitions[op.function]
                if isinstance(written, (ir.Load, ir.Attribute)):
                    calls[written.name].append(_recorded(op, written, frame))

        return sink

    try:
        analysis.run(sink_for)
    except RecursionError:
        return None
    return _File(place, analysis, calls)


def _recorded(op: ir.Call, written: ir.Load | ir.Attribute, frame: Frame) -> _Call:
    given = frame.analysis.given
    receiver = given(frame, written.object) if isinstance(written, ir.Attribute) else UNKNOWN
    if op.has_splat:
        return _Call(frame.body, (), None, receiver)
    return _Call(
        frame.body,
        tuple(given(frame, argument.value) for argument in op.arguments if argument.keyword is None),
        {argument.keyword: given(frame, argument.value) for argument in op.arguments if argument.keyword is not None},
        receiver,
    )


def _argument(call: _Call, body: ir.Body, parameter: str, file: _File) -> Value | None:
    """What a call gives as a parameter, or its default; None where the call does not tell."""
    parameters = list(body.parameters)
    if body.owner is not None and "staticmethod" not in body.decorators and parameters:
        if parameters[0].name == parameter:
            return call.receiver
        parameters = parameters[1:]
    if call.keywords is None:
        return None
    if parameter in call.keywords:
        return call.keywords[parameter]
    names = [p.name for p in parameters if p.kind in ("positional", "positional-only")]
    if parameter in names and names.index(parameter) < len(call.positional):
        return call.positional[names.index(parameter)]
    default = next((p.default for p in parameters if p.name == parameter), None)
    if default is None or body.parent is None:
        return None
    written = file.analysis.index_of(body.parent).definitions[default]
    if isinstance(written, ir.Constant):
        return _of_constant(written.value)
    return None


def _of_constant(constant: object) -> Value:
    if constant is None:
        return Value(Kind.NONE, constant=None)
    if isinstance(constant, str):
        return Value(Kind.STRING, from_string(constant), constant=constant)
    return Value(Kind.SCALAR, constant=constant)


_HOST_KINDS = frozenset({Kind.NONE, Kind.NDARRAY, Kind.SCALAR, Kind.SIZE, Kind.DTYPE, Kind.OTHER})


def _judged(value: Value | None, caller: ir.Body, file: _File, depth: int) -> Given:
    """Where one value of a call lives, in the terms of its caller, or of the caller's callers."""
    if value is None:
        return Given.UNKNOWN
    if value.kind in (Kind.LIST, Kind.TUPLE, Kind.DICT):
        value = element_of(value)
    seen = Given.NOBODY
    for part in value.parts:
        found = _judged_part(part, caller, file, depth)
        if found is Given.ACCELERATOR:
            return found
        seen = found if seen in (Given.NOBODY, found) else Given.UNKNOWN
    return seen


def _judged_part(value: Value, caller: ir.Body, file: _File, depth: int) -> Given:
    if value.kind in _HOST_KINDS or value.symbol in ("wrapper", "dispatched"):
        return Given.HOST
    device = value.device
    if device.place in ("cpu", "meta"):
        return Given.HOST
    decider = _decider(value, device, caller, file)
    if decider:
        given = _given(file.place, caller.qualname, decider, depth - 1)
        placed = device.name == decider  # moved to it, or made there: who asks for a device means one
        return Given.ACCELERATOR if placed and given is not Given.HOST else given
    if device.place == "acc" or device.chosen:
        return Given.ACCELERATOR
    if device.place != "sym":
        return Given.UNKNOWN
    if value.moved is None and device.name.startswith("next("):
        return Given.ACCELERATOR if file.analysis.program.words & {"cuda", "device"} else Given.UNKNOWN
    return Given.ACCELERATOR


def _decider(value: Value, device: Device, caller: ir.Body, file: _File) -> str:
    """The parameter of the caller that decides where a value lives; "" where the caller itself does."""
    names = {parameter.name for parameter in caller.parameters}
    root = _root(device)
    own = file.analysis.index_of(caller).self_name or ""
    if root in names and root != own:
        return root
    return value.parameter if device.place == "top" and value.parameter in names and value.moved is None else ""


def _root(device: Device) -> str:
    """The name that a device is read from: "model" of `next(model.parameters()).device`, "batch" of `batch["x"].device`."""
    return re.split(r"[.\[]", device.name.removeprefix("next("), maxsplit=1)[0]
