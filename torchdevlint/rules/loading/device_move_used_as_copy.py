"""TDL113."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.rule import WARNING, Mention, NodeFix, Report, Rule, on_file, on_op
from torchdevlint.rules.structure import may_follow
from torchdevlint.stubs.knowledge.methods import MODULE_STRONG

_TRAINS = re.compile(
    r"(?:\A|_)(?:step|backward|train\w*|fit\w*|optimi[sz]e\w*|update\w*|epoch\w*|learn\w*)\Z", re.IGNORECASE
)
_NO_MODEL = re.compile(r"opt|sched|scaler|loop|callback|loader|sampler|metric|cb|ckpt", re.IGNORECASE)
_NOT_TRAINING = frozenset({"train_loader", "update", "eval"})


class _Snapshot(NamedTuple):
    op: ir.Op  # the store
    made: ir.Op  # the expression to change
    name: str
    model: str  # the last name of the model's path
    body: ir.Body
    bare: bool  # `model.state_dict()` itself, without a comprehension


class DeviceMoveUsedAsCopy(Rule):
    """Finds snapshots of a model's weights that go on changing with the model.

    ## What it does
    Reports `best = model.state_dict()` and `best = {k: v.cpu() for k, v in model.state_dict().items()}` (also `.to(...)`) that are
    given back to `load_state_dict` after more training, without `.clone()` or `copy.deepcopy`.

    ## Why is this bad?
    `state_dict()` copies nothing: the dict holds the parameters' own storage, on every device. `.cpu()` copies on a GPU run and returns
    the same tensor on a CPU run. The "best" weights are then the last ones, without an error.

    ## Example
        for epoch in range(epochs):
            loss = train(model)
            if loss < best_loss:
                best = model.state_dict()
        model.load_state_dict(best)

    ## Use instead
                best = copy.deepcopy(model.state_dict())

    ## When it stays silent
    `.clone()`, `copy.deepcopy`, `copy=True`; dicts that are saved or given to another model; no training between the
    snapshot and its use, which what gets the dict itself is not.

    ## Fix safety
    Unsafe: the program computes something else than before (what it meant to).

    ## Proof
    On the CPU the restored weights equal the last ones; with a copy they equal those of the best epoch.

    ## References
    torch/nn/modules/module.py (state_dict keeps references), torch.Tensor.to, docstring ("Otherwise, self is returned").
    """

    code, name, severity = "TDL113", "device-move-used-as-copy", WARNING
    needs = ("state_dict",)
    fixable = "unsafe"

    def __init__(self) -> None:
        self._snapshots: list[_Snapshot] = []

    @on_op(ir.Store)
    def note(self, op: ir.Store, facts: Facts) -> None:
        self._note(op, op.value, op.name, facts)

    @on_op(ir.StoreAttribute)
    def note_attribute(self, op: ir.StoreAttribute, facts: Facts) -> None:
        self._note(op, op.value, "." + op.name, facts)

    def _note(self, op: ir.Op, register: ir.Register, name: str, facts: Facts) -> None:
        made = facts.definition(register)
        move = facts.definition(made.value) if isinstance(made, ir.Comprehension) and made.shape == "dict" else None
        source: ir.Call | None = None
        if isinstance(made, ir.Call):
            source, move = (made if _is_state_dict(made, facts) else None), made
        elif isinstance(move, ir.Call) and facts.callee(move) in (".cpu", ".to") and move.keyword("copy") is None:
            source = _state_dict_behind(move, facts)
        if source is None or move is None:
            return
        model = facts.place(facts.receiver(source)).rpartition(".")[2]
        if model and not _NO_MODEL.search(model) and _is_used_as_module(source, model, facts):
            self._snapshots.append(_Snapshot(op, move, name, model, facts.body, source is made))

    @on_file
    def tell(self, facts: Facts) -> Iterator[Report]:
        for snapshot in self._snapshots:
            restored = _restored(snapshot, facts)
            if restored is None:
                continue
            what = (
                "`state_dict()` holds the parameters themselves, which training changes; keep a copy of each"
                if snapshot.bare
                else "`.cpu()` and `.to()` do not copy a tensor that is there already; add `.clone()` to keep this snapshot"
            )
            yield self.report(
                snapshot.made,
                what,
                detail="The training that follows changes this snapshot too: line {0} restores the last weights, without an error"
                + ("." if snapshot.bare else ", in a run on the CPU."),
                related=(Mention(restored, "here the snapshot is restored"),),
                fix=lambda snapshot=snapshot: _fix(snapshot, facts),  # type: ignore[misc]
            )


_ASKED_OF_MODULES = MODULE_STRONG | {"train", "zero_grad", "requires_grad_"}


def _is_used_as_module(source: ir.Call, name: str, facts: Facts) -> bool:
    """True for a module, and for what the file calls, or asks for parameters or its mode: other things have a `state_dict` as well."""
    if facts.value(facts.receiver(source)).kind is Kind.MODULE:
        return True
    for body in facts.program.bodies:
        lookup = Lookup.of(body)
        for op in lookup.all:
            if isinstance(op, (ir.Load, ir.Attribute)) and op.name == name:
                if not lookup.attributes_of(op.dst).isdisjoint(_ASKED_OF_MODULES):
                    return True
                if any(isinstance(reader, ir.Call) and reader.function == op.dst for reader in lookup.readers(op.dst)):
                    return True
    return False


def _is_state_dict(call: ir.Call, facts: Facts) -> bool:
    return facts.callee(call) == ".state_dict" and not call.arguments


def _state_dict_behind(move: ir.Call, facts: Facts) -> ir.Call | None:
    """`model.state_dict()` for the `v` of `for k, v in model.state_dict().items()`, also through `.detach()` and `.data`."""
    op = facts.definition(facts.receiver(move))
    for _ in range(6):
        if isinstance(op, ir.Call):
            if _is_state_dict(op, facts):
                return op
            op = facts.definition(facts.receiver(op)) if facts.callee(op) in (".detach", ".items") else None
        elif isinstance(op, ir.Attribute):
            op = facts.definition(op.object) if op.name == "data" else None
        elif isinstance(op, ir.Load):
            op = facts.index.bound_once(op.name)
        elif isinstance(op, ir.Unpack):
            op = facts.definition(op.source)
        elif isinstance(op, ir.Iterate):
            op = facts.definition(op.iterable)
        else:
            return None
    return None


def _restored(snapshot: _Snapshot, facts: Facts) -> ir.Op | None:
    """The `load_state_dict(snapshot)` behind more training, or None."""
    attribute = snapshot.name.startswith(".")
    for body in facts.program.bodies if attribute else [snapshot.body]:
        lookup = Lookup.of(body)
        for op in lookup.kind(ir.Call):
            if not op.arguments or not _loads(op, snapshot.model, lookup):
                continue
            given = lookup.definition(op.arguments[0].value)
            if attribute:
                is_restored = isinstance(given, ir.Attribute) and "." + given.name == snapshot.name
                is_restored = is_restored and body is not snapshot.body
            else:
                is_restored = _names(given, snapshot) and _reaches(snapshot, op) and _trains_between(snapshot, op)
            if is_restored:
                return op
    return None


def _names(op: ir.Op | None, snapshot: _Snapshot) -> bool:
    return isinstance(op, ir.Load) and op.name == snapshot.name


def _loads(call: ir.Call, model: str, lookup: Lookup) -> bool:
    """True for `model.load_state_dict(...)` of the model that the snapshot was taken of, by its last name."""
    written = lookup.definition(call.function)
    if not isinstance(written, ir.Attribute) or written.name != "load_state_dict":
        return False
    owner = lookup.definition(written.object)
    return isinstance(owner, (ir.Load, ir.Attribute)) and owner.name == model


def _reaches(snapshot: _Snapshot, op: ir.Op) -> bool:
    """True when the restore can see this snapshot: it comes later, and nothing else is stored under the name in its own block before it."""
    lookup = Lookup.of(snapshot.body)
    block, number = lookup.block(op), lookup.number
    start = number(snapshot.op) if lookup.block(snapshot.op) is block else -1
    return may_follow(snapshot.body, snapshot.op, op) and not any(
        lookup.block(store) is block and start < number(store) < number(op) for store in lookup.stores(snapshot.name)
    )


def _trains_between(snapshot: _Snapshot, op: ir.Op) -> bool:
    lookup = Lookup.of(snapshot.body)
    for other in lookup.kind(ir.Call):
        name = lookup.called(other)
        if not _TRAINS.search(name) or name in _NOT_TRAINING:
            continue
        if name == "train" and not isinstance(lookup.definition(other.function), ir.Load):
            continue  # `train(model)` trains; `model.train()` only sets the mode
        if any(_names(lookup.definition(argument.value), snapshot) for argument in other.arguments):
            continue  # it works on the dict: `update_entries(state, loaded)`
        if may_follow(snapshot.body, snapshot.op, other) and may_follow(snapshot.body, other, op):
            return True
    return False


def _fix(snapshot: _Snapshot, facts: Facts) -> NodeFix | None:
    if not snapshot.bare:
        edits = builders.wrap_method(snapshot.made, "clone")
    elif "copy" in facts.analysis.aliases and facts.analysis.aliases["copy"] == "copy":
        edits = builders.wrap_in_call(snapshot.made, "copy.deepcopy")
    else:
        text = builders.source_of(snapshot.made)
        edits = (
            builders.replace_expression(snapshot.made, f"{{key: value.clone() for key, value in {text}.items()}}")
            if "\n" not in text
            else None
        )
    return NodeFix(Ground.CHANGES_A_RUN, "Copy the weights", edits)
