"""TDL518."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.forwards import may_be_given_on_host
from torchdevlint.facts.naming import is_loss_name
from torchdevlint.facts.scopes import binds, scopes_of
from torchdevlint.facts.values import Kind, Value
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.infer.summary import Fault
from torchdevlint.infer.values import Site
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup, reads
from torchdevlint.rules.inferred import Inferred, where_is
from torchdevlint.rules.repairs import There, facts_at
from torchdevlint.rules.rule import ERROR, Mention, NodeFix, Report, on_any_call
from torchdevlint.rules.wording import MISMATCH

if TYPE_CHECKING:
    from torchdevlint.fixes.builders import Edits


_MOVES = frozenset({"to", "cuda", "xpu", "npu", "hpu", "mps"})


class OneSiblingLeftBehind(Inferred):
    """Finds a value that stays on the CPU while its sibling from the same batch was moved.

    ## What it does
    Values that come from the same batch, loop target or call (`x` and `y`, `batch["a"]` and `batch["b"]`) belong together. Where one is moved to a
    device and another meets it, or the same model or loss, unmoved, the move was forgotten.

    ## Why is this bad?
    The model or the loss gets tensors on two devices and raises `RuntimeError: Expected all tensors to be on the same device`. The training
    loop often moves both and the evaluation loop only one.

    ## Example
        for images, labels in loader:
            images = images.to(device)
            loss = criterion(model(images), labels)

    ## Use instead
        for images, labels in loader:
            images, labels = images.to(device), labels.to(device)

    ## When it stays silent
    The sibling is a length, an index, a name; it goes through `.item()` or stays in host code; the wrapper or the model's `forward` moves it;
    the data set is told a device, or the collate function moves what it returns.

    ## Fix safety
    The same move on the sibling is safe when both are known to be tensors. None is made of what may be None, and of what is read on
    the CPU as well.

    ## Proof
    A loss on an accelerator's output and a CPU target raises; with the moved target it gives the CPU run's value.

    ## References
    aten/src/ATen/core/op_registration/adaption.h.
    """

    code, name, severity = "TDL518", "one-sibling-left-behind", ERROR
    fixable = "sometimes"

    @on_any_call
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        if not Lookup.of(facts.body).has_attribute(*_MOVES) or facts.in_forward:
            return  # what a module is given is where the module is: that a part is moved says nothing of the others
        if all(argument.star for argument in call.arguments) or _is_given_list(call, facts):
            return
        callee = facts.value(call.function)
        is_module = callee.kind is Kind.MODULE and callee.symbol not in ("wrapper", "dispatched")
        is_torch = callee.kind is Kind.SYMBOL and callee.symbol.startswith("torch.nn.functional.")
        is_loss = not is_torch and is_loss_name(facts.place(call.function))
        if not (is_module or is_torch or is_loss):
            return
        given = [(argument.value, facts.value(argument.value)) for argument in call.arguments if not argument.star]
        moved = {
            value.group: value
            for _, value in given
            if value.group is not None and value.moved is not None and value.device.may_be_accelerator
        }
        beside = bool(moved)
        if not moved and is_module and _may_be_moved(callee, facts):
            moved = _moved_siblings([value for _, value in given], facts)
        if is_loss:
            yield from self._beside_output(call, given, facts)
        for register, value in given:
            sibling = moved.get(value.group) if value.group is not None else None
            if sibling is None or value.moved is not None:
                continue
            if value.kind is not Kind.TENSOR and not isinstance(value.group, str):
                continue  # what a call returns beside a tensor may be anything
            if is_module and may_be_given_on_host(call, register, facts.body, facts.analysis):
                continue
            yield from self._told(call, register, value, sibling, facts, sure=beside)

    def _beside_output(self, call: ir.Call, given: list[tuple[ir.Register, Value]], facts: Facts) -> Iterator[Report]:
        """The output of a model whose input was moved, in a loss beside a part of the same batch that was not."""
        outputs = [value for _, value in given if value.moved is not None and value.device.may_be_accelerator]
        left = [(register, value) for register, value in given if value.group is not None and value.moved is None]
        for register, value in left if outputs else ():
            if _is_batch_part(value.origin, facts) and _moved_siblings([value], facts):
                yield from self._told(call, _taken(register, facts), value, outputs[0], facts, output=True)

    def words(
        self, fault: Fault, told_at: Site, related: tuple[Mention, ...], there: There | None, facts: Facts
    ) -> tuple[str, str]:
        """A part of a batch in an operation, such as a comparison, with what was computed from a part that was moved."""
        sibling = _sibling(fault, facts)
        name = f"`{sibling.place}`" if sibling is not None else "a part of the batch"
        return (
            f"{name} stays on the CPU, and meets a tensor on {where_is(fault, there)}; move it too",
            f"On an accelerator this line raises {MISMATCH}.",
        )

    def repair(self, fault: Fault, there: There | None, facts: Facts) -> NodeFix | None:
        sibling, body = _sibling(fault, facts), fault.site.body
        if sibling is None or there is None or body is None:
            return None
        return _fix(facts, body, sibling.place, sibling.read, there.expression, sibling.is_tensor)

    def _told(
        self,
        call: ir.Op,
        register: ir.Register,
        value: Value,
        sibling: Value,
        facts: Facts,
        *,
        output: bool = False,
        sure: bool = True,
    ) -> Iterator[Report]:
        place = facts.place(register)
        if not place or _is_host_name(place) or sibling.moved is None:
            return
        certain = sure and value.kind is Kind.TENSOR and value.evidence >= 2
        device = sibling.device
        expression = device.name if device.place == "sym" else f'"{device.name}"'
        written = facts.definition(register)
        written = _where_taken_out(written, value, facts) or written
        beside = (
            f"and meets the output of a model on {device.describe()} (line {{0}})"
            if output
            else f"but its sibling from the batch moved to {device.describe()} on line {{0}}"
        )
        what = "call" if isinstance(call, ir.Call) else "line"
        body = facts.body
        yield self.report(
            written if written is not None else call,
            f"`{place}` stays on the CPU, {beside}; move it too",
            detail=f"On an accelerator this {what} raises {MISMATCH}.",
            case="" if certain else "it may be no tensor" if isinstance(call, ir.Call) else "it may be a number",
            related=(
                Mention(sibling.moved, "here the output is made" if output else "here its sibling moved"),
                *((Mention(value.origin, "here it comes from"),) if value.origin is not None else ()),
            ),
            fix=lambda: _fix(facts, body, place, written, expression, certain),
        )


# Where a file speaks of these, a model may bring its inputs to its device itself.
_INPUT_MOVERS = frozenset(
    "DataParallel DistributedDataParallel FullyShardedDataParallel Accelerator fabric Fabric deepspeed Trainer".split()
)


def _is_given_list(call: ir.Call, facts: Facts) -> bool:
    """True for a call that somebody gives a list, such as one of texts: what the batch holds beside its tensors is no tensor."""
    return any(site.op is call for site in facts.analysis.inference.lists)


def _moved_siblings(given: list[Value], facts: Facts) -> dict[Any, Value]:
    """By group, what was moved of the batches whose other parts are given here."""
    groups = {value.group for value in given if value.group is not None and _is_batch_part(value.origin, facts)}
    found: dict[Any, Value] = {}
    if groups:
        for _, known in facts.frame.all_held():
            if known.group in groups and known.moved is not None:
                found[known.group] = known
    return {group: known for group, known in found.items() if known.device.may_be_accelerator}


def _is_batch_part(made: ir.Op | None, facts: Facts) -> bool:
    """True for what a loop over a loader gives, also through `enumerate` and `iter`."""
    if isinstance(made, ir.Call):
        return facts.makes(made) and facts.value(made.function).symbol.startswith("builtins.")
    return isinstance(made, (ir.Unpack, ir.Iterate))


def _may_be_moved(module: Value, facts: Facts) -> bool:
    """True for a module with weights that was moved here, or by a caller in the file, where no wrapper moves inputs."""
    if module.symbol.endswith("Loss") or module.symbol.startswith("torchmetrics."):
        return False
    placed = facts.frame.module_device(module).may_be_accelerator or _is_given_moved(module, facts)
    words = facts.program.words
    wraps = (
        "accelerator" in words and "current_accelerator" not in words
    )  # an Accelerator that was given, not torch.accelerator
    return placed and not wraps and words.isdisjoint(_INPUT_MOVERS)


def _taken(register: ir.Register, facts: Facts) -> ir.Register:
    """`y` of `y.view_as(x).long()`."""
    for call, method in facts.methods(register):
        if facts.qualified(call.function) is not None:
            break
        register = method.object
    return register


def _is_given_moved(module: Value, facts: Facts) -> bool:
    """True for an argument that a call in the file moved; another file may have wrapped it in DataParallel, which moves inputs."""
    if not module.parameter:
        return False
    given = facts.analysis.arguments_given(facts.body, module.parameter)
    return any(value.device.may_be_accelerator and value.moved is not None for value in given)


class _Sibling(NamedTuple):
    """The part of a batch that was left behind: how it is spelled, the operation that reads it, and whether it is known to be a tensor."""

    place: str
    read: ir.Op
    is_tensor: bool


def _sibling(fault: Fault, facts: Facts) -> _Sibling | None:
    """The one operand of a meeting that is not known to be elsewhere."""
    inside = facts_at(fault.site, facts)
    if inside is None:
        return None
    registers = _operands(fault.site.op)
    receiver = inside.receiver(fault.site.op) if isinstance(fault.site.op, ir.Call) else None
    taken = [_taken(one, inside) for one in (*registers, *(() if receiver is None else (receiver,)))]
    left = [
        one
        for one in taken
        if _is_bound(inside.place(one), inside)
        and inside.qualified(one) is None
        and not inside.value(one).device.may_be_accelerator
    ]
    read = inside.definition(left[0]) if len(left) == 1 else None
    if read is None:
        return None
    value = inside.value(left[0])
    return _Sibling(inside.place(left[0]), read, value.kind is Kind.TENSOR and value.evidence >= 2)


def _is_bound(place: str, inside: Facts) -> bool:
    """True for what a name of the file leads to; `torch` of `from config import *` is bound elsewhere."""
    name = place.partition(".")[0].partition("[")[0]
    return bool(place) and any(binds(one, name) for one in scopes_of(inside.body))


def _operands(op: ir.Op) -> list[ir.Register]:
    """The registers that a call, an arithmetic operation or a comparison works on."""
    if isinstance(op, ir.Call):
        return [argument.value for argument in op.arguments]
    return reads(op) if isinstance(op, (ir.Binary, ir.Compare)) else []


def _fix(
    facts: Facts, body: ir.Body, place: str, written: ir.Op | None, expression: str, certain: bool
) -> NodeFix | None:
    """The move of all that reads the value: where it is made, in front of its first use, or at its only one."""
    from torchdevlint.fixes.scope import may_be_none, may_hold_none

    if written is None or not expression or not all(part.isidentifier() for part in expression.strip('"').split(".")):
        return None
    cfg, definitions = Cfg.of(body), facts.analysis.index_of(body).definitions
    held = [written, *(definitions[store.value] for store in cfg.bindings(place, written).stores)]
    is_none_somewhere = any(may_hold_none(made, definitions) for made in held)
    if may_be_none(place, written, cfg, definitions, is_none_somewhere=is_none_somewhere):
        return None
    edits: Edits | None
    others = _other_uses(place, written, cfg, definitions) if isinstance(written, ir.Load) else []
    if others:
        if any(_stays_on_host(use, body) or not cfg.dominates(written, use) for use in others):
            return None
        moved = f"{place} = {place}.to({expression})"
        edits = builders.insert_statements_before(facts.program, written, moved)
    else:
        edits = builders.wrap_method(written, "to", expression)
    if not edits:
        return None
    ground = Ground.MOVE_DOES_NOTHING if certain else Ground.UNKNOWN_KIND
    return NodeFix(ground, f"Move it with `.to({expression})`", edits)


# What reads no elements, or makes a copy elsewhere: it is the same wherever the tensor is.
_ANYWHERE = frozenset("cuda device dim dtype ndim nelement numel shape size to".split())
_HOST_READS = frozenset("cpu item numpy tolist".split())


def _other_uses(name: str, use: ir.Load, cfg: Cfg, definitions: list[ir.Op | None]) -> list[ir.Load]:
    """The other reads of a name that read what this one does, but for those of sizes, moves, and tests of None."""
    bound, lookup = _bound(name, use, cfg), Lookup.of(cfg.body)
    return [
        load
        for load in lookup.loads(name)
        if load is not use
        and bound & _bound(name, load, cfg)
        and not all(_fits_anywhere(op, definitions) for op in lookup.readers(load.dst))
    ]


def _fits_anywhere(op: ir.Op, definitions: list[ir.Op | None]) -> bool:
    if isinstance(op, ir.Compare):
        return op.operators[0] in ("is", "is not")
    if isinstance(op, ir.Call):
        called = definitions[op.function]
        return isinstance(called, ir.Load) and called.name == "len"
    return isinstance(op, ir.Attribute) and op.name in _ANYWHERE


def _bound(name: str, use: ir.Op, cfg: Cfg) -> set[int]:
    """What may have bound the name that is read there, by identity."""
    bindings = cfg.bindings(name, use)
    return {id(one) for one in (*bindings.stores, bindings.parameter) if one is not None}


def _stays_on_host(use: ir.Load, body: ir.Body) -> bool:
    """True for a read that wants the value on the CPU."""
    return any(isinstance(op, ir.Attribute) and op.name in _HOST_READS for op in Lookup.of(body).readers(use.dst))


def _where_taken_out(written: ir.Op | None, cpu: Value, facts: Facts) -> ir.Op | None:
    """The `batch["x"]` of `x = batch["x"]`, when that is all that the name is bound to."""
    if not isinstance(written, ir.Load):
        return None
    taken = facts.index.bound_once(written.name)
    return taken if isinstance(taken, ir.Subscript) and facts.value(taken.dst).origin is cpu.origin else None


_HOST_WORDS = (
    "len",
    "length",
    "idx",
    "index",
    "id",
    "name",
    "path",
    "file",
    "meta",
    "size",
    "shape",
    "info",
    "text",
    "word",
    "caption",
    "step",
    "epoch",
)


def _is_host_name(place: str) -> bool:
    """True for what is called a length, an index, a name: of use on the CPU."""
    last = place.rpartition(".")[2].lower()
    return any(word in last for word in _HOST_WORDS)
