"""TDL517."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from torchdevlint.facts.calls import called_as
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.index import BodyIndex
from torchdevlint.facts.naming import MODEL_NAME
from torchdevlint.facts.once import once_per_file
from torchdevlint.facts.scopes import binds, default_of, nested, parameter_of, scopes_of
from torchdevlint.facts.values import NOTHING, Kind, Value
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import deciding_sides
from torchdevlint.rules.policy import faults_to_tell
from torchdevlint.rules.rule import (
    WARNING,
    Mention,
    NodeFix,
    Report,
    Rule,
    on_any_call,
    on_call,
    on_file,
    on_method,
    on_op,
)
from torchdevlint.rules.structure import may_follow, operations
from torchdevlint.rules.wording import give_device
from torchdevlint.stubs.knowledge import functions

_DEVICE = re.compile(r"(?:\A|_)device\Z")
_KNOWN_PACKAGES = tuple(
    f"{name}."
    for name in "torch builtins numpy transformers safetensors argparse collections dataclasses typing".split()
)
_METADATA = frozenset({"item", "tolist", "numpy", "element_size", "dim", "size", "shape", "dtype"})
_ROOT = re.compile(r"[.\[]")
_MOVES = frozenset({"to", "cuda", "type_as", "cpu"})
_PLACES = _MOVES | {"pin_memory"}  # what is pinned is meant for the host


class _Dropped(NamedTuple):
    """A call that leaves a device parameter to its default."""

    call: ir.Call
    callee: ir.Body
    parameter: ir.Parameter
    caller: ir.Body
    in_hand: str  # the spelling of the caller's device
    option: bool = False  # in hand if the file's argument parser has an option of this name


class _Loaded(NamedTuple):
    """A model that a function makes, fills from a checkpoint on its device, and returns."""

    op: ir.Return
    parameter: str
    name: str
    body: ir.Body
    called: ir.Call  # the load that gets the device


class _Use(NamedTuple):
    """What a function does with its device parameter."""

    given: bool = False  # passed on: to a factory, a move, another call
    stored: bool = False  # kept as an attribute
    settled: bool = False  # tested or replaced: the function finds a device of its own


class DeviceArgumentNotForwarded(Rule):
    """Finds device arguments that are dropped on the way to the code that creates tensors.

    ## What it does
    Reports a call of a function, method or class of the same file that leaves its `device` parameter to the default although the caller has a
    device argument of its own (a recursive call too), and a function with a `device` parameter that it never reads while it
    creates tensors or stores another device as `self.device`.

    Of a callee of another file it knows only that a second call in the file passes `device=`. Where a call takes its arguments from the
    options of the command line (`args.weights`, `args.batch_size`), a `--device` option that it leaves out counts as well. And a function that
    gives its `device` to the load of a checkpoint alone, and returns the model that the checkpoint was copied into, returns it on the CPU.

    ## Why is this bad?
    The callee creates its tensors on its default device, most often the CPU, while everything else is on the device that the caller was
    asked to use:
    `RuntimeError: Expected all tensors to be on the same device`, or work on the wrong device without an error.

    ## Example
        def positions(n, device=None):
            return torch.arange(n, device=device)

        def encode(tokens, device):
            return embed(tokens.to(device)) + embed_positions(positions(tokens.size(1)))

    ## Use instead
        def encode(tokens, device):
            return embed(tokens.to(device)) + embed_positions(positions(tokens.size(1), device=device))

    ## When it stays silent
    The callee only stores its device, or finds one of its own when none is given; the caller moves the result, computes with it on the CPU, or has
    the very default; `*args` or `**kwargs` may carry the argument; tests.

    ## Fix safety
    Unsafe: the callee may do more with its device than to create tensors.

    ## Proof
    The call with an accelerator device raises where the default's tensor meets the others; with the argument passed on it gives the CPU
    run's values.

    ## References
    CUDA semantics, "Device-agnostic code" (docs/source/notes/cuda.rst).
    """

    code, name, severity = "TDL517", "device-argument-not-forwarded", WARNING
    fixable = "unsafe"

    def __init__(self) -> None:
        self._dropped: list[_Dropped] = []
        self._passed: set[tuple[int, int]] = set()  # caller and callee of calls that pass the device
        self._made: dict[int, list[tuple[ir.Call, Facts]]] = {}
        self._options: set[str] = set()
        self._loaded: list[_Loaded] = []
        self._moved_by_callers: set[int] = set()
        self._imported: dict[str, list[tuple[ir.Call, Facts]]] = {}

    @on_method("add_argument")
    def note_option(self, call: ir.Call, facts: Facts) -> None:
        """The options of the command line."""
        for argument in call.arguments:
            text = facts.constant(argument.value)
            if isinstance(text, str) and text.startswith("--"):
                self._options.add(text[2:].replace("-", "_"))

    @on_op(ir.Return)
    def note_returned(self, op: ir.Return, facts: Facts) -> None:
        """Models that are returned from where they were filled."""
        loaded = _loaded_model(op, facts)
        if loaded is not None:
            self._loaded.append(loaded)

    @on_call(*functions.FACTORIES)
    def note_factory(self, call: ir.Call, facts: Facts) -> None:
        """Factories without a device, by body."""
        if (
            call.keyword("device") is not None
            or call.has_splat
            or call.keyword("pin_memory") is not None
            or Lookup.of(facts.body).attributes_of(call.dst) & _PLACES
        ):
            return
        if facts.default_device is None:
            self._made.setdefault(id(facts.body), []).append((call, facts))

    @on_any_call
    def note_call(self, call: ir.Call, facts: Facts) -> None:
        """Calls that leave a device parameter to its default."""
        if call.has_splat:
            return
        found = _resolve(call, facts)
        if found is None:
            self._note_imported(call, facts)
            return
        callee, skip = found
        moved = _is_moved_in_chain(facts, call.dst) or _moved_by_name(call, facts)
        if moved:
            self._moved_by_callers.add(id(callee))
        taken = _device_parameter(callee, skip)
        if taken is None:
            return
        parameter, position = taken
        if call.argument(parameter.name, position) is not None:
            self._passed.add((id(facts.body), id(callee)))
            return
        if _is_for_what_is_missing(parameter, callee, call, skip) or _meets_the_host(call, facts):
            return
        in_hand = _device_in_hand(parameter.name, callee.owner, facts) or _replaced_buffer(call, facts)
        option = _option_in_hand(parameter, call, facts) if in_hand is None else None
        if moved or (in_hand is None and option is None) or _is_the_default(parameter, callee, in_hand, facts):
            return
        self._dropped.append(
            _Dropped(call, callee, parameter, facts.body, in_hand or option or "", option=in_hand is None)
        )

    def _note_imported(self, call: ir.Call, facts: Facts) -> None:
        """Calls of what another file of the project defines: with `device=` or without."""
        name = facts.qualified(call.function)
        if name is None or name.startswith(_KNOWN_PACKAGES):
            return
        given = call.keyword("device") is not None
        if given or (not _is_moved_in_chain(facts, call.dst) and not _moved_by_name(call, facts)):
            self._imported.setdefault(name, []).append((call, facts))

    @on_file
    def check_siblings(self, facts: Facts) -> Iterator[Report]:
        for name, calls in () if facts.roles.is_test else self._imported.items():
            beside = next((call for call, _ in calls if call.keyword("device") is not None), None)
            for call, inside in calls if beside is not None else ():
                in_hand = _device_in_hand("device", None, inside) if call.keyword("device") is None else None
                if beside is None or in_hand is None or in_hand in (inside.place(one.value) for one in call.arguments):
                    continue
                last = name.rpartition(".")[2]
                yield self.report(
                    call,
                    f"this calls `{last}` without the `device=` that line {{0}} passes; pass `device={in_hand}`",
                    detail=f"The default is used although `{in_hand}` is at hand: on an accelerator the results end up on different devices "
                    '("Expected all tensors to be on the same device").',
                    case="what the callee does without a device is not known",
                    related=(Mention(beside, "here the device is passed"),),
                    fix=lambda call=call, in_hand=in_hand: _pass(call, "device", in_hand),  # type: ignore[misc]
                )

    @on_file
    def check_calls(self, facts: Facts) -> Iterator[Report]:
        for dropped in () if facts.roles.is_test else self._dropped:
            use = _use_of(dropped.parameter.name, dropped.callee)
            beside = (id(dropped.caller), id(dropped.callee)) in self._passed
            if use.settled or not (use.given or (use.stored and beside)):
                continue
            if dropped.option and dropped.parameter.name not in self._options:
                continue
            callee, name, in_hand = called_as(dropped.callee), dropped.parameter.name, dropped.in_hand
            default = _default_text(dropped.parameter, dropped.callee)
            spelled = _spelled_default(dropped.parameter, dropped.callee)
            if spelled in ("cpu", None) and _constructs_module(dropped.caller, facts):
                continue  # what it makes goes where the module goes
            how = "calls itself" if dropped.callee is dropped.caller else f"calls `{callee}`"
            effect = (
                f"what `--{name}` asks for is ignored here"
                if dropped.option
                else 'on an accelerator the tensors end up on different devices ("Expected all tensors to be on the same device")'
            )
            yield self.report(
                dropped.call,
                f"this {how} without `{name}=`, so {default} is used; pass `{name}={in_hand}`",
                detail=f"`{in_hand}` was asked for: {effect}.",
                # A host default beside a device that the caller keeps for itself may be meant: results, replay buffers. So may
                # intermediate results on the CPU in a caller that makes others there.
                case="results on the CPU may be meant"
                if _may_be_meant(dropped, spelled == "cpu") or self._made.get(id(dropped.caller))
                else "",
                fix=lambda dropped=dropped: _pass(dropped.call, dropped.parameter.name, dropped.in_hand),  # type: ignore[misc]
            )

    @on_file
    def check_loaded(self, facts: Facts) -> Iterator[Report]:
        for found in self._loaded:
            if id(found.body) in self._moved_by_callers:
                continue
            yield self.report(
                found.op,
                f"`{found.body.name}` returns `{found.name}` on the CPU; return `{found.name}.to({found.parameter})`",
                detail=f"It is asked for `{found.parameter}` and only maps the checkpoint to it (line {{0}}): `load_state_dict` copies the values "
                f"into `{found.name}`, which stays on the CPU.",
                related=(Mention(found.called, "here the checkpoint is mapped"),),
                fix=lambda found=found: _return_moved(found, facts),  # type: ignore[misc]
            )

    @on_file
    def check_unused(self, facts: Facts) -> Iterator[Report]:
        for body in () if facts.roles.is_test else facts.program.bodies:
            if body.kind != "function" or {"abstractmethod", "abc.abstractmethod", "overload"} & set(body.decorators):
                continue
            for parameter in body.parameters:
                if _DEVICE.search(parameter.name) and not _is_read(parameter.name, body):
                    yield from self._unused(parameter, body, facts)

    def _unused(self, parameter: ir.Parameter, body: ir.Body, facts: Facts) -> Iterator[Report]:
        name = parameter.name
        # A test function takes the fixture `device` for its marks, too.
        # A module's tensors follow it when it is moved.
        if _constructs_module(body, facts):
            return
        for call, there in self._made.get(id(body), ()) if not body.name.startswith("test") else ():
            if id(call) in _met(facts) or _is_unplaced(call, there):
                continue
            factory = there.callee(call)
            yield self.report(
                call,
                f"`{body.name}` never uses its `{name}` and makes this tensor on the CPU; create it with `device={name}`",
                detail=f"`{factory}(...)` makes its tensor on the CPU whatever the caller asks for.",
                fix=lambda call=call: give_device(call, name, Ground.UNSEEN_CODE),  # type: ignore[misc]
            )
        for op in operations(body):
            if isinstance(op, ir.StoreAttribute) and op.name == name:
                yield self.report(
                    op,
                    f"`{body.qualname}` never uses its `{name}` and stores another device; store the parameter",
                    detail="What the caller asks for is ignored, without an error. What has to be moved must go to that device.",
                )
                return


@once_per_file
def _met(facts: Facts) -> frozenset[int]:
    """The operations that make a tensor on the CPU which meets another one elsewhere: that is told by the rule whose claim it is."""
    return frozenset(id(fault.place.op) for fault in faults_to_tell(facts))


@once_per_file
def _taking_devices(facts: Facts) -> frozenset[str]:
    """The names of the functions and classes of the file that take a device."""
    bodies = {body for body in facts.program.bodies if any(_DEVICE.search(one.name) for one in body.parameters)}
    made = {cls.name for cls in facts.program.classes if facts.analysis.summary_of(cls).method("__init__") in bodies}
    return frozenset({body.name for body in bodies} | made)


def _resolve(call: ir.Call, facts: Facts) -> tuple[ir.Body, int] | None:
    """The function of this file that is called, and how many of its parameters the call does not write."""
    asked = facts.definition(call.function)
    names = _taking_devices(facts)
    if not names or (isinstance(asked, ir.Attribute) and asked.name not in names):
        return None
    if isinstance(asked, ir.Load) and (_is_given(asked.name, facts) or not _may_mean(asked.name, names, facts)):
        return None
    is_of_constructor = isinstance(asked, ir.Attribute) and asked.name == "__init__"
    is_of_module = facts.class_summary is None or facts.class_summary.is_module
    if is_of_constructor and is_of_module and _is_super(facts.definition(facts.receiver(call)), facts):
        return None  # what a module makes in its constructor follows it
    if facts.qualified(call.function) is not None:
        return None
    value = facts.value(call.function)
    analysis = facts.analysis
    if value.kind is Kind.FUNCTION and isinstance(value.definition, ir.Body):
        return value.definition, 0
    if value.kind is Kind.CLASS and isinstance(value.definition, ir.Class):
        body = analysis.summary_of(value.definition).method("__init__")
        return (body, 1) if body is not None else None
    written = facts.definition(call.function)
    if not isinstance(written, ir.Attribute):
        return None
    receiver = facts.value(written.object)
    if receiver.symbol == "super" and facts.class_summary is not None:
        bases = (base.method(written.name) for base in facts.class_summary.base_summaries)
        inherited = next((method for method in bases if method is not None), None)
        return (inherited, 1) if inherited is not None else None
    if not isinstance(receiver.definition, ir.Class) or receiver.kind not in (Kind.MODULE, Kind.INSTANCE, Kind.CLASS):
        return None
    body = analysis.summary_of(receiver.definition).method(written.name)
    if body is None or "property" in body.decorators:
        return None
    if receiver.kind is Kind.CLASS and not body.needs_no_object:
        return None
    return body, 0 if body.is_static else 1


def _may_mean(name: str, names: frozenset[str], facts: Facts) -> bool:
    """True for one of the names, and for a variable of a body that reads one of them."""
    if name in names:
        return True
    binding = (body for body in scopes_of(facts.body) if name in body.local_names or body.kind == "module")
    lookup = Lookup.of(next(binding))
    return any(lookup.loads(one) or lookup.attributes(one) for one in names)


def _is_super(op: ir.Op | None, facts: Facts) -> bool:
    """True for `super()`."""
    called = facts.definition(op.function) if isinstance(op, ir.Call) else None
    return isinstance(called, ir.Load) and called.name == "super"


def _is_given(name: str, facts: Facts) -> bool:
    """True for a parameter that nothing binds anew: only a caller knows what it is. The first one of a class method is the class."""
    body = facts.body
    of_class = body.parameters[0].name if body.is_class_method and body.parameters else ""
    is_parameter = parameter_of(body, name) is not None
    return name != of_class and is_parameter and not body.functions and not facts.index.bound_to(name)


def _device_parameter(body: ir.Body, skip: int) -> tuple[ir.Parameter, int | None] | None:
    """The parameter of a function that takes a device and has a default, with its position in a call."""
    for number, parameter in enumerate(body.parameters):
        if parameter.default is not None and _DEVICE.search(parameter.name):
            return parameter, None if parameter.kind == "keyword-only" else number - skip
    return None


def _device_in_hand(wanted: str, owner: ir.Class | None, facts: Facts) -> str | None:
    """The caller's own device argument, as the caller spells it."""
    for scope in scopes_of(facts.body):
        if scope.kind not in ("function", "lambda"):
            break
        names = [parameter.name for parameter in scope.parameters if _DEVICE.search(parameter.name)]
        names = [name for name in names if name == wanted] or names
        for name in names:
            value = facts.frame.lookup(name)
            if (
                isinstance(value, Value)
                and value.kind in (Kind.DEVICE, Kind.STRING)
                and value.device.may_be_accelerator
            ):
                return name
    local = facts.frame.held(wanted)
    if local is not None and local.kind is Kind.DEVICE and local.device.may_be_accelerator:
        return wanted
    summary = facts.class_summary
    own = facts.index.self_name
    if summary is None or owner is summary.cls or facts.body.name == "__init__" or not own:
        return None
    if facts.body.is_class_method:
        return None
    keeps = summary.stores_of("device") or summary.has_device_property or summary.is_lightning
    return f"{own}.device" if keeps else None


def _option_in_hand(wanted: ir.Parameter, call: ir.Call, facts: Facts) -> str | None:
    """`args.device` where the call takes several of its arguments from `args`."""
    given = [facts.place(argument.value).split(".") for argument in call.arguments if not argument.star]
    roots = [path[0] for path in given if len(path) == 2]
    root = next((name for name in roots if roots.count(name) > 1), None)
    return f"{root}.{wanted.name}" if root is not None and root != "self" else None


def _may_be_meant(dropped: _Dropped, on_host: bool) -> bool:
    """True for a host default beside a device that the caller keeps for itself: results, replay buffers. A callee that runs a
    model that it is given has to know where the model is."""
    return dropped.in_hand.endswith(".device") and on_host and not _runs_a_model(dropped.callee)


def _runs_a_model(body: ir.Body) -> bool:
    """True for a function that calls a parameter named as models are."""
    lookup = Lookup.of(body)
    models = {parameter.name for parameter in body.parameters if MODEL_NAME.search(parameter.name)}
    calls = (lookup.definition(call.function) for call in lookup.kind(ir.Call))
    return any(isinstance(called, ir.Load) and called.name in models for called in calls)


def _loaded_model(op: ir.Return, facts: Facts) -> _Loaded | None:
    """The model that is returned, when the function's device goes to the load of its checkpoint alone."""
    body, read = facts.body, facts.definition(op.value)
    parameter = next((p.name for p in body.parameters if _DEVICE.search(p.name)), None)
    if parameter is None or not isinstance(read, ir.Load):
        return None
    use = facts.index.use(read.name)
    made = [store.value for store in Lookup.of(body).stores(read.name)]
    if "load_state_dict" not in use.attributes or use.attributes & _MOVES or len(made) != 1:
        return None
    call = facts.definition(made[0])
    if not isinstance(call, ir.Call) or call.has_splat or facts.callee(call).removeprefix(".") in _MOVES:
        return None
    mapped: ir.Call | None = None
    for other in operations(body):
        if isinstance(other, ir.Call):
            if other.keyword("assign") is not None:
                return None  # the values themselves take the places of the model's
            for argument in other.arguments:
                name = facts.place(argument.value)
                if name == read.name:
                    return None  # what takes the model may move it
                if name != parameter:
                    continue
                if argument.keyword == "map_location":
                    mapped = other
                elif facts.callee(other) != ".to":
                    return None
        elif isinstance(other, (ir.Store, ir.StoreAttribute)) and facts.place(other.value) == parameter:
            return None
    return _Loaded(op, parameter, read.name, body, mapped) if mapped is not None else None


def _return_moved(found: _Loaded, facts: Facts) -> NodeFix | None:
    read = Lookup.of(found.body).definition(found.op.value)
    edits = builders.wrap_method(read, "to", found.parameter) if read is not None else None
    return NodeFix(Ground.UNSEEN_CODE, f"Return it on `{found.parameter}`", edits)


def _replaced_buffer(call: ir.Call, facts: Facts) -> str | None:
    """The device of the registered buffer that the call's result takes the place of, outside the constructor."""
    summary = facts.class_summary
    if summary is None or not summary.is_module or facts.body.name == "__init__":
        return None
    results = {call.dst}
    for op in operations(facts.body):
        if isinstance(op, ir.Unpack) and op.source in results:
            results.add(op.dst)
        elif isinstance(op, ir.StoreAttribute) and op.value in results and summary.is_registered(op.name):
            return f"{facts.place(op.object) or 'self'}.{op.name}.device"
    return None


def _moved_by_name(call: ir.Call, facts: Facts) -> bool:
    """True when the call's result gets a name that is moved somewhere in the body, or that goes into what is moved as it is made."""
    index = facts.index
    op = Lookup.of(facts.body).store_of(call.dst)
    if op is None:
        return False
    path = op.name if isinstance(op, ir.Store) else f"{facts.place(op.object)}.{op.name}"
    into_moved = index.once(_given_to_moved).get(_ROOT.split(path, maxsplit=1)[0], ())
    return bool(index.use(path).attributes & _MOVES) or any(facts.place(register) == path for register in into_moved)


def _given_to_moved(index: BodyIndex) -> dict[str, list[ir.Register]]:
    """What goes into a call whose result is moved as it is made, by the name that each path starts with."""
    found: dict[str, list[ir.Register]] = {}
    moved = (index.definitions[read.object] for read in Lookup.of(index.body).kind(ir.Attribute) if read.name in _MOVES)
    for call in moved:
        for argument in call.arguments if isinstance(call, ir.Call) else ():
            start = index.definitions[argument.value]
            while isinstance(start, (ir.Attribute, ir.Subscript)):
                start = index.definitions[start.object]
            if isinstance(start, ir.Load):
                found.setdefault(start.name, []).append(argument.value)
    return found


def _is_for_what_is_missing(device: ir.Parameter, callee: ir.Body, call: ir.Call, skip: int) -> bool:
    """True where a function reads its device only where another argument is None, which this call gives."""
    lookup, names = Lookup.of(callee), [parameter.name for parameter in callee.parameters]
    loads = list(lookup.loads(device.name))

    def is_given(name: str) -> bool:
        return name in names and call.argument(name, names.index(name) - skip) is not None

    def stands_for_a_missing_one(load: ir.Load) -> bool:
        block = lookup.block(load)
        tests = deciding_sides(callee, block, ir.Compare) if block is not None else ()
        return any(is_given(_none_where(lookup.definition(test), side, lookup)) for test, side in tests)

    return bool(loads) and all(map(stands_for_a_missing_one, loads))


def _none_where(test: ir.Op | None, side: bool, lookup: Lookup) -> str:
    """The name that is None where a test comes out so: `x is None`, `x is not None`."""
    if not isinstance(test, ir.Compare) or test.operators[0] != ("is" if side else "is not"):
        return ""
    asked, other = lookup.definition(test.left), lookup.definition(test.comparators[0])
    is_none = isinstance(other, ir.Constant) and other.value is None
    return asked.name if isinstance(asked, ir.Load) and is_none else ""


def _is_the_default(parameter: ir.Parameter, callee: ir.Body, in_hand: str | None, facts: Facts) -> bool:
    """True when the caller's device is the very one that the callee takes by default: both spelled out, or read where a local function was made."""
    if in_hand is not None and _is_read_for_default(parameter, callee, in_hand, facts):
        return True
    held = facts.frame.lookup(in_hand) if in_hand is not None else None
    if held is None or not held.device.is_accelerator or callee.parent is None:
        return False
    written = default_of(callee, parameter)
    if isinstance(written, ir.Call):
        written = Lookup.of(callee.parent).definition(written.positional(0))
    return isinstance(written, ir.Constant) and written.value == held.device.name


def _is_read_for_default(parameter: ir.Parameter, callee: ir.Body, in_hand: str, facts: Facts) -> bool:
    """True for `def local(device=device)` in the caller, or around it, where the name is bound once."""
    scope, name = callee.parent, in_hand.partition(".")[0]
    if scope is None or parameter.default is None:
        return False
    if all(one is not scope for one in scopes_of(facts.body)):
        return False
    within = takewhile(lambda one: one is not scope, scopes_of(facts.body))
    index = facts.analysis.index_of(scope)
    bound = len(index.bound_to(name)) + (parameter_of(scope, name) is not None)
    is_bound_within = any(binds(one, name) for one in within)
    return not is_bound_within and bound == 1 and index.dotted(parameter.default) == in_hand


def _use_of(name: str, body: ir.Body) -> _Use:
    """What a function does with the parameter `name`."""
    given = stored = settled = False
    gives: list[ir.Op] = []
    for inner in nested(body):
        lookup = Lookup.of(inner)
        trail = lookup.trail(*(load.dst for load in lookup.loads(name)))
        for op in trail:
            if isinstance(op, ir.Call):
                taken = [argument for argument in op.arguments if argument.value in trail]
                if taken and len(op.arguments) == 1 and lookup.called(op) == "device":
                    trail.add(op.dst)  # `torch.device(device)` is the parameter by another name
                elif any(argument.keyword != "map_location" for argument in taken):
                    given = True
                    gives += [op] if inner is body else []
            elif isinstance(op, ir.StoreAttribute):
                stored = stored or op.value in trail
            elif isinstance(op, ir.Choice):
                settled = settled or any(register in trail for register in op.values)
            else:
                settled = settled or isinstance(op, (ir.Compare, ir.Unary))
        settled = settled or any(register in trail for register in lookup.tested)
    replaced = Lookup.of(body).stores(name)
    if replaced and not settled:
        settled = all(any(may_follow(body, store, give) for store in replaced) for give in gives)
    return _Use(given, stored, settled)


def _is_read(name: str, body: ir.Body) -> bool:
    """True when the parameter is read, or may be (`locals()`), anywhere in the function."""
    return any(Lookup.of(inner).loads(one) for inner in nested(body) for one in (name, "locals"))


_SAVES = frozenset({"torch.save", "torch.serialization.save"})


def _is_unplaced(call: ir.Call, facts: Facts) -> bool:
    """True for a tensor that does not matter: 0-dim, turned into numbers at once, or written to a file, where `map_location` decides."""
    first = call.positional(0)
    scalar = facts.callee(call) in functions.DATA_FACTORIES and facts.value(first).kind is Kind.SCALAR
    readers = Lookup.of(facts.body).readers(call.dst)
    is_saved = any(isinstance(one, ir.Call) and facts.callee(one) in _SAVES for one in readers)
    if is_saved or _is_placeholder(call, facts):
        return True
    keeps = facts.callee(call) in ("torch.as_tensor", "torch.asarray") or facts.value(first).kind is Kind.TENSOR
    return scalar or keeps or bool(Lookup.of(facts.body).attributes_of(call.dst) & _METADATA)


def _default_text(parameter: ir.Parameter, body: ir.Body) -> str:
    written = default_of(body, parameter)
    if isinstance(written, ir.Constant) and isinstance(written.value, str):
        return f'its default `"{written.value}"`'
    if isinstance(written, ir.Constant) and written.value is None:
        return "the default device"
    return "its default"


def _spelled_default(parameter: ir.Parameter, body: ir.Body) -> object:
    """The constant that a default is, or is made of: "cpu" for `torch.device("cpu")`; NOTHING for anything else."""
    written = default_of(body, parameter)
    if isinstance(written, ir.Call) and len(written.arguments) == 1 and body.parent is not None:
        written = Lookup.of(body.parent).definition(written.arguments[0].value)
    return written.value if isinstance(written, ir.Constant) else NOTHING


def _constructs_module(body: ir.Body, facts: Facts) -> bool:
    return body.owner is not None and body.name == "__init__" and facts.analysis.summary_of(body.owner).is_module


def _pass(call: ir.Call, name: str, device: str) -> NodeFix | None:
    return NodeFix(Ground.UNSEEN_CODE, f"Pass `{name}={device}` on", builders.add_keyword(call, name, device))


def _meets_the_host(call: ir.Call, facts: Facts) -> bool:
    """True for what is computed or compared with a tensor that was brought to the CPU: it is wanted there."""
    beside = (facts.value(other) for use in facts.uses(call) for other in _operands(use.op, facts))
    return any(value.moved is not None and value.device.place == "cpu" for value in beside)


def _operands(op: ir.Op, facts: Facts) -> tuple[ir.Register, ...]:
    """What an operation, or a function or method that may be one, computes with."""
    if isinstance(op, ir.Binary):
        return op.left, op.right
    if isinstance(op, ir.Compare):
        return op.left, *op.comparators
    if not isinstance(op, ir.Call):
        return ()
    method = facts.definition(op.function)
    receiver = (method.object,) if isinstance(method, ir.Attribute) else ()
    return *receiver, *(argument.value for argument in op.arguments)


def _is_moved_in_chain(facts: Facts, register: ir.Register) -> bool:
    """True for a value that is moved in the same expression: `build().eval().requires_grad_(False).to(device)`."""
    lookup, chain = Lookup.of(facts.body), [register]
    while chain:
        for method in lookup.readers(chain.pop()):
            for call in lookup.readers(method.dst) if isinstance(method, ir.Attribute) else ():
                if isinstance(call, ir.Call) and isinstance(method, ir.Attribute) and call.function == method.dst:
                    if method.name in ("to", "cuda"):
                        return True
                    if method.name in ("eval", "train", "requires_grad_", "half", "float", "bfloat16"):
                        chain.append(call.dst)
    return False


def _is_placeholder(made: ir.Call, facts: Facts) -> bool:
    """True for `torch.empty(0)` and `torch.tensor([])`, which are replaced (or skipped by `cat`) before they matter."""
    first = facts.value(made.positional(0))
    sized = facts.callee(made) in functions.SIZED_FACTORIES
    return (sized and first.constant == 0) or (first.kind is Kind.LIST and first.items == () and first.element is None)
