"""TDL603."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from torchdevlint.fixes.grounds import Ground
from torchdevlint.flow.facts import AttributeStore, ClassSummary, EntryStore, Facts, Meeting
from torchdevlint.flow.index import NameUse
from torchdevlint.flow.values import Evidence, Kind, Value
from torchdevlint.program import ir
from torchdevlint.rules.callers import Site, argument_given, calls_of
from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.neighbours import is_imported
from torchdevlint.rules.order import block_of, deciding_tests
from torchdevlint.rules.paths import spelling
from torchdevlint.rules.premises import premise_of
from torchdevlint.rules.rule import ERROR, INFO, WARNING, Mention, NodeFix, Report, on_class, on_meet
from torchdevlint.rules.structure import family_methods, is_test_file, moves_itself, operations
from torchdevlint.rules.surroundings import (
    in_program_for_the_host,
    in_program_that_moves_nothing,
    in_project_for_the_host,
    in_unnamed_code,
    in_unreachable_code,
    under_another_default_device,
)
from torchdevlint.rules.wording import MISMATCH, describe, is_data_code, is_placeholder


class TensorAttributeNotBuffer(Inferred):
    """Finds tensors kept as plain attributes of a module and used with tensors that follow the module.

    ## What it does
    Looks for `self.x = <tensor>` in an `nn.Module` where `x` is no parameter and no buffer, and where a method that `forward` reaches
    combines `self.x` with an argument, a parameter or a submodule's output. As a warning also an attribute that the constructor puts on a
    device once, a CPU tensor of a class that is no module, and a tensor that one method puts into a plain dict of the module and another
    takes out.

    ## Why is this bad?
    `Module.to()` moves parameters and buffers only. The attribute stays on the CPU and the operation raises
    `RuntimeError: Expected all tensors to be on the same device` as soon as the module is on an accelerator. It is not in the state dict either.

    ## Example
        def __init__(self):
            super().__init__()
            self.scale = torch.ones(3)

    ## Use instead
        def __init__(self):
            super().__init__()
            self.register_buffer("scale", torch.ones(3), persistent=False)

    ## When it stays silent
    It is moved where it is read, or by an override of `to`, `cuda` or `_apply`; it is 0-dim, an index, a shape or an empty placeholder; it is
    refilled from the inputs. It is a note where the constructor, or each function that makes the module, moves the module to the
    same device, and in a class that is no module where no caller gives an accelerator.

    ## Fix safety
    Safe never: a floating-point buffer is cast by `.half()` where the attribute was not, and an assignment of something else to the name
    raises. `persistent=False` keeps the keys of the state dict.

    ## Proof
    The module is moved to an accelerator and called: the plain attribute raises, then the entry of a dict; buffers give the CPU run's values.

    ## References
    torch/nn/modules/module.py (_apply, register_buffer).
    """

    code, name, severity = "TDL603", "tensor-attribute-not-buffer", ERROR
    quiet_in = (
        in_program_for_the_host,
        under_another_default_device,
        in_unreachable_code,
        in_program_that_moves_nothing,
    )
    doubtful_in = (in_unnamed_code, in_project_for_the_host)
    fixable = "unsafe"

    def __init__(self) -> None:
        self._told: set[tuple[int, str]] = set()

    @on_meet
    def check(self, meeting: Meeting, facts: Facts) -> Iterator[Report]:
        name = meeting.cpu.attribute
        summary = facts.class_summary
        if not name or summary is None or facts.in_setup or facts.tracing:
            return
        if not summary.is_module:
            yield from self._of_a_plain_class(meeting, name, summary, facts)
            return
        entry = next((store for store in summary.entries_of(name) if store.op is meeting.cpu.origin), None)
        if entry is not None:
            yield from self._of_an_entry(meeting, name, entry, summary, facts)
            return
        if not facts.in_forward:
            return
        if (
            meeting.other.evidence < Evidence.USAGE
            or (meeting.cpu.rank is None and not meeting.strict)
            or meeting.other.attribute == name
        ):
            return
        stores = summary.stores_of(name)
        given = meeting.cpu.symbol == "argument"
        if given:
            faulty = [
                store
                for store in stores
                if store.value.parameter and store.value.evidence >= Evidence.STRONG and _is_kept(store, summary)
            ]
        else:
            faulty = [
                store for store in stores if any(part.origin is meeting.cpu.origin for part in _held(store.value))
            ]
        if not faulty or summary.is_registered(name) or _is_renewed(meeting, name, facts):
            return
        if meeting.cpu.origin is not None and is_placeholder(meeting.cpu.origin, facts):
            return
        if given and not meeting.other.device.name.endswith(".device") and meeting.other.device.name != "self":
            return
        store = faulty[0]
        # Another method may bring it to the module's device before the meeting: `net.set_target(features)`.
        may_be_replaced = any(
            other not in faulty and other.body.name not in _SETUP and other.value.kind is not Kind.NONE
            for other in stores
        )
        left = "where the caller made it" if given else "on the CPU"
        use, how = (
            "register it as a buffer",
            f'`self.register_buffer("{name}", ..., persistent=False)` moves with the module.',
        )
        if store.value.kind is not Kind.TENSOR:
            use, how = "register each tensor in it as a buffer", ""
        if store.value.symbol == "distribution":
            use, how = "register its parameters as buffers", "Build the distribution where it is used."
        yield self.report(
            store.op,
            f"`self.{name}` stays {left} when the module moves; {use}",
            detail=f"Line {{0}} combines it with {describe(meeting.other)}: on an accelerator that raises {MISMATCH}. {how}".rstrip(),
            severity=WARNING if given or may_be_replaced else ERROR,
            related=(Mention(meeting.op, f"here it meets {describe(meeting.other)}"),),
            fix=lambda: _fix(summary, name, store, stores, facts) if store.value.symbol != "distribution" else None,
        )

    @on_class
    def check_placed_once(self, summary: ClassSummary, facts: Facts) -> Iterator[Report]:
        """Attributes that the constructor puts on a device of its own choice, where they stay when the module moves."""
        if not summary.is_module or summary.is_lightning:
            return
        for name, stores in summary.stores.items():
            placed = [store for store in stores if _is_placed(store.value)]
            if (
                not placed
                or summary.is_registered(name)
                or any(s.body.name not in _SETUP for s in summary.stores_of(name))
            ):
                continue
            if _is_moved_later(summary, name, facts) or not _is_combined(summary, name, facts):
                continue
            yield self.report(
                placed[0].op,
                f"`self.{name}` stays where the constructor put it when the module moves; register it as a buffer",
                detail=f"It is a plain attribute, and `.to(device)` leaves it there: a module that is moved afterwards raises {MISMATCH} where it "
                f'is used. `self.register_buffer("{name}", ..., persistent=False)` moves with the module.',
                severity=INFO if _is_placed_with_module(placed[0], summary, facts) else WARNING,
                fix=partial(_fix, summary, name, placed[0], stores, facts),
            )

    def _of_an_entry(
        self, meeting: Meeting, name: str, entry: EntryStore, summary: ClassSummary, facts: Facts
    ) -> Iterator[Report]:
        """A tensor that one method puts into a dict and another takes out, where the module may have moved in between."""
        follows = meeting.other.device.name == "self" or facts.in_forward
        if meeting.other.evidence < Evidence.USAGE or not follows or meeting.other.attribute == name:
            return
        if (meeting.cpu.rank is None and not meeting.strict) or _has_device(facts.body, summary):
            return
        always = entry.value.is_fresh_cpu or entry.body.name in summary.setup_methods
        read = _read_here(name, facts) or meeting.op
        yield self.report(
            summary.stores_of(name)[0].op,
            f"tensors in `self.{name}` do not move with the module; register them as buffers, or move them when read",
            detail=f"It is a plain dict. What line {{0}} puts into it stays {'on the CPU' if always else 'where the module was then'}; what "
            f"line {{1}} takes out is combined with {describe(meeting.other)}: "
            f"{'on an accelerator' if always else 'in a module that was moved in between'} that raises {MISMATCH}.",
            severity=ERROR if always else WARNING,
            related=(
                Mention(entry.op, "here the entry is stored"),
                Mention(read, "here it is taken out"),
                Mention(meeting.op, f"here it meets {describe(meeting.other)}"),
            ),
        )

    def _of_a_plain_class(self, meeting: Meeting, name: str, summary: ClassSummary, facts: Facts) -> Iterator[Report]:
        """A helper that is no module: nothing moves its tensors unless it does so itself."""
        cpu, other = meeting.cpu, meeting.other
        unranked = cpu.rank is None and not meeting.strict
        if not cpu.is_fresh_cpu or unranked or is_data_code(facts) or is_test_file(facts):
            return
        if other.evidence < Evidence.USAGE or not (other.device.name.endswith(".device") or other.moved is not None):
            return
        stores = summary.stores_of(name)
        faulty = [store for store in stores if any(part.origin is cpu.origin for part in _held(store.value))]
        # What the meeting method stores itself comes after the meeting: the first call of it fails.
        if not faulty or any(store not in faulty and store.body is not facts.body for store in stores):
            return
        if (id(summary), name) in self._told:
            return
        self._told.add((id(summary), name))
        made = faulty[0]
        # A constant can be moved where it is used; what is trained or added to must be made in the right place.
        constant = len(stores) == 1 and not cpu.needs_grad and meeting.role == "operand" and not made.value.needs_grad
        read = _read_here(name, facts) if constant and not _has_device(made.body, summary) else None
        advice = "create it there, or move it" if read is None else "move it there first"
        yield self.report(
            made.op if read is None else read,
            f"`self.{name}` is on the CPU and meets {describe(other)}; {advice}",
            detail=f"It is made on the CPU{' (line {0})' if read is not None else ''} and no method moves it. "
            f"{'Line {0} combines the two' if read is None else 'Here the two are combined'}: on an accelerator that raises {MISMATCH}.",
            severity=WARNING,
            rests_on=premise_of(other, facts),
            related=(
                Mention(meeting.op, f"here it meets {describe(other)}")
                if read is None
                else Mention(made.op, "here it is made, where no device is known"),
            ),
        )


def _is_renewed(meeting: Meeting, name: str, facts: Facts) -> bool:
    """True for an element of `self.x` where this method stores a new one before: `if grid.shape != ...: self.grids[k] = grid`."""
    own = facts.analysis.index_of(facts.body).self_name
    for op in operations(facts.body):
        if op is meeting.op:
            return False
        if isinstance(op, ir.StoreSubscript) and facts.place(op.object) == f"{own}.{name}":
            return facts.value(op.object).kind is not Kind.TENSOR
    return False


def _is_kept(store: AttributeStore, summary: ClassSummary) -> bool:
    """True for an argument that outlives a move: given to the constructor, or kept by one call of `forward` for the next."""
    if store.body.name in summary.forward_methods:
        at = block_of(store.body, store.op)
        return at is not None and any(deciding_tests(store.body, at))
    return store.body.name in summary.setup_methods


def _is_placed_with_module(store: AttributeStore, summary: ClassSummary, facts: Facts) -> bool:
    """True where the constructor moves the module too, the whole file has one device, or a project that makes the module in another file names that device to it."""
    name = store.value.device.name
    given = any(parameter.name == name for parameter in store.body.parameters)
    if store.value.device.place == "sym" and is_imported(facts):
        return True
    if _is_moved_where_it_is_made(store.body, name, facts):
        return True
    return moves_itself(summary, facts.analysis) or (not given and name in facts.program.module.local_names)


def _is_moved_where_it_is_made(constructor: ir.Body, name: str, facts: Facts) -> bool:
    """True when each construction of the module gives it the very device that the same function moves it to."""
    asked = name.removeprefix("self.")
    if all(parameter.name != asked for parameter in constructor.parameters):
        return False
    sites = list(calls_of(constructor, facts))
    return bool(sites) and all(
        _moves_to(spelling(argument_given(site, constructor, asked), site.body, site.facts), site) for site in sites
    )


def _moves_to(device: str, site: Site) -> bool:
    """True when what a call makes is moved in the same function, and nowhere else than to `device`."""
    made = {site.call.dst}
    for op in operations(site.body):
        if isinstance(op, (ir.Store, ir.StoreAttribute)) and op.value == site.call.dst:
            names = {
                other.dst
                for other in operations(site.body)
                if isinstance(other, (ir.Load, ir.Attribute)) and other.name == op.name
            }
            made |= names
    index = site.facts.analysis.index_of(site.body)
    targets = [
        spelling(op.argument("device", 0), site.body, site.facts)
        for op in operations(site.body)
        if isinstance(op, ir.Call)
        and isinstance(method := index.definitions[op.function], ir.Attribute)
        and method.name in ("to", "cuda")
        and method.object in made
    ]
    return bool(device and targets) and all(target == device for target in targets)


def _has_device(body: ir.Body, summary: ClassSummary) -> bool:
    """True for a method that could make the tensor elsewhere: it has a device at hand, or the class keeps one."""
    reads = any(isinstance(op, ir.Attribute) and op.name == "device" for op in operations(body))
    return reads or bool(summary.stores_of("device")) or any("device" in p.name for p in body.parameters)


def _read_here(name: str, facts: Facts) -> ir.Op | None:
    """The first `self.name` of this method."""
    own = facts.analysis.index_of(facts.body).self_name
    for op in operations(facts.body):
        if isinstance(op, ir.Attribute) and op.name == name and facts.place(op.object) == own:
            return op
    return None


def _held(value: Value) -> Iterator[Value]:
    """The tensors that a value is, or that it holds as a list, tuple or dict."""
    if value.kind in (Kind.LIST, Kind.TUPLE, Kind.DICT):
        inner = (*(value.items or ()), *(entry for _, entry in value.entries))
        for part in (*inner, value.element) if value.element is not None else inner:
            yield from part.parts
    else:
        yield from value.parts


_SETUP = frozenset({"__init__", "__post_init__", "setup"})
_MOVES = frozenset({"to", "cuda", "type_as", "cpu", "data"})


def _is_placed(value: Value) -> bool:
    """True for a tensor made with `device=` or moved, to a device that the constructor was given or names."""
    if value.kind is not Kind.TENSOR or value.symbol or value.parameter or value.needs_grad:
        return False
    if value.moved is not None:
        return value.device.place != "cpu"
    name = value.device.name
    chosen = value.device.is_accelerator or name == "self.device" or (bool(name) and "." not in name and name != "self")
    return (
        value.evidence >= Evidence.STRONG and value.origin is None and value.device.place in ("sym", "acc") and chosen
    )


def _uses(summary: ClassSummary, name: str, facts: Facts) -> Iterator[tuple[str, NameUse]]:
    """How each method of the class uses `self.name`."""
    for method, body in summary.cls.methods.items():
        index = facts.analysis.index_of(body)
        if index.self_name:
            yield method, index.use(f"{index.self_name}.{name}")


def _is_moved_later(summary: ClassSummary, name: str, facts: Facts) -> bool:
    """True when a method moves the attribute where it reads it, or the class moves what it holds by itself."""
    if family_methods(summary) & {"to", "cuda", "_apply"}:
        return True
    return any(use.attributes & _MOVES for method, use in _uses(summary, name, facts) if method not in _SETUP)


def _is_combined(summary: ClassSummary, name: str, facts: Facts) -> bool:
    """True when a method computes with the attribute, or gives it to a submodule."""
    return any(
        method not in _SETUP
        and (use.arithmetic or use.torch_argument or ((use.module_argument or use.method_argument) and not use.called))
        for method, use in _uses(summary, name, facts)
    )


def _fix(
    summary: ClassSummary, name: str, store: AttributeStore, stores: list[AttributeStore], facts: Facts
) -> NodeFix | None:
    from torchdevlint.fixes import builders

    only = len(stores) == 1 and store.body.name == "__init__" and name not in summary.cls.body.local_names
    if not only or store.value.kind is not Kind.TENSOR or not isinstance(store.op, ir.StoreAttribute):
        return None
    made = store.value.origin
    wanted = made.keyword("requires_grad") if isinstance(made, ir.Call) else None
    if wanted is not None and _is_true(wanted, store, facts):
        return None  # a buffer is no leaf any more once it was moved
    edits = builders.register_buffer(facts.program, store.op)
    return NodeFix(Ground.CHANGES_A_RUN, f"Register `{name}` as a buffer", edits) if edits else None


def _is_true(register: ir.Register, store: AttributeStore, facts: Facts) -> bool:
    written = facts.analysis.index_of(store.body).definitions[register]
    return isinstance(written, ir.Constant) and written.value is True
