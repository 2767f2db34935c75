"""TDL524."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.sharing import ASKED, MOVES, sharing_of, works_in_place
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import is_read_after
from torchdevlint.rules.rule import WARNING, Mention, Report, Rule, on_op


class InPlaceChangeOfCopy(Rule):
    """Finds changes in place of what a move has copied, which nobody reads.

    ## What it does
    Reports a method or an operator that works in place (`mul_`, `+=`), or a store into an item, on the result of `.cpu()`, `.to(device)` or `.cuda()`,
    directly or through `.numpy()`, `.detach()` and views, where the result has no name, or a name that nothing reads afterwards:
    `layer.weight.data.cpu().mul_(mask)`.

    ## Why is this bad?
    Where the tensor is somewhere else the move makes a copy: the copy is changed and thrown away, and the tensor keeps its values without a word. On the CPU
    alone `.cpu()` returns the tensor itself, and `.numpy()` shares its memory, so that a run there shows nothing.

    ## Example
        weight = embedding.weight.data.cpu().numpy()
        weight[0] = 0.0

    ## Use instead
        weight = embedding.weight.data.cpu().numpy()
        weight[0] = 0.0
        embedding.weight.data.copy_(torch.from_numpy(weight))

    ## When it stays silent
    The tensor is there already; the result, or its name, is read afterwards, returned or given to a function; a conversion of the type alone; what is moved
    was just computed and has no name.

    ## Proof
    A mask is multiplied into a copy of the weights: none of them is zero on an accelerator. In place they are.

    ## References
    torch/_tensor_docs.py (`to`, `cpu`: the tensor itself is returned where it is there already), torch/csrc/utils/tensor_numpy.cpp.
    """

    code, name, severity = "TDL524", "in-place-change-of-copy", WARNING

    @on_op(ir.Discard)
    def check_method(self, statement: ir.Discard, facts: Facts) -> Iterator[Report]:
        call = facts.definition(statement.value)
        method = _in_place(call, facts)
        moved = _moved(method.object, facts) if method is not None else None
        if method is not None and moved is not None:
            yield self._told(statement, f"`.{method.name}()`", moved, facts)

    @on_op(ir.StoreSubscript)
    def check_item(self, store: ir.StoreSubscript, facts: Facts) -> Iterator[Report]:
        moved = _moved(store.object, facts)
        if moved is not None:
            yield self._told(store, "this store", moved, facts)

    @on_op(ir.Store)
    def check_name(self, store: ir.Store, facts: Facts) -> Iterator[Report]:
        """`weight = layer.weight.cpu().numpy()`, which is changed below and never read."""
        moved = _moved(store.value, facts)
        change = _only_change(store, facts) if moved is not None else None
        if moved is not None and change is not None:
            yield self._told(change, "this change", moved, facts, named=store)

    def _told(self, op: ir.Op, what: str, moved: _Moved, facts: Facts, named: ir.Op | None = None) -> Report:
        place = moved.place.replace("{", "{{").replace("}", "}}")
        where = "elsewhere" if moved.method != "cpu" else "on an accelerator"
        called = f".{moved.method}" if moved.method in MOVES else moved.method
        return self.report(
            op,
            f"{what} is lost where `{place}` is {where}; do it in place or copy it back",
            detail=f"`{called}()` returns a copy then, and nothing reads what is changed here. Where there is nothing to copy, as in a run on the CPU, "
            f"`{place}` itself is changed.",
            related=(Mention(named, "here it is copied"),) if named is not None else (),
        )


class _Moved(NamedTuple):
    """What a move was called on, and the method, or the function that moves."""

    place: str
    method: str


def _in_place(call: ir.Op | None, facts: Facts) -> ir.Attribute | None:
    """The method of a call that works in place."""
    method = facts.definition(call.function) if isinstance(call, ir.Call) else None
    return method if isinstance(method, ir.Attribute) and works_in_place(method.name) else None


def _moved(register: ir.Register, facts: Facts) -> _Moved | None:
    """The move below views and changes in place; None where there is none, or where what it was called on is there already or has no name."""
    move = sharing_of(facts.body, facts.analysis).base(register).move
    if move is None:
        return None
    method = facts.definition(move.function)
    if isinstance(method, ir.Attribute) and method.name in MOVES:
        return _of_move(move, method, facts)
    return _of_helper(move, facts)


def _of_move(call: ir.Call, method: ir.Attribute, facts: Facts) -> _Moved | None:
    target = facts.target_of_move(call)
    if target is None or facts.frame.is_already_at(method.object, call.argument("device", 0), method.name == "cpu"):
        return None
    place = _place(_below(method.object, facts), facts)
    if place.isidentifier() and not _lasts(place, call, facts):
        return None
    return _Moved(place, method.name) if place else None


def _of_helper(call: ir.Call, facts: Facts) -> _Moved | None:
    """What a function of the project moves and hands back: `def host(tensor): return tensor.detach().cpu()`."""
    given = sharing_of(facts.body, facts.analysis).moved_by_helper(call)
    if given is None or facts.frame.are_together(given, call.dst):
        return None
    place = _place(_below(given, facts), facts)
    if not place or (place.isidentifier() and not _lasts(place, call, facts)):
        return None
    return _Moved(place, facts.text(call.function))


def _below(register: ir.Register, facts: Facts) -> ir.Register:
    """The tensor below `detach()`, which shares its memory."""
    written = facts.definition(register)
    method = facts.definition(written.function) if isinstance(written, ir.Call) else None
    is_detached = isinstance(method, ir.Attribute) and method.name == "detach"
    return _below(method.object, facts) if is_detached and isinstance(method, ir.Attribute) else register


def _place(register: ir.Register, facts: Facts) -> str:
    """The path that something was read from, also an item whose key is no constant."""
    written = facts.definition(register)
    if isinstance(written, ir.Attribute) and written.name == "data":
        holder = _place(written.object, facts)
        return f"{holder}.data" if holder else ""
    if not isinstance(written, ir.Subscript) or facts.place(register):
        return facts.text(register)
    holder = facts.text(written.object)
    return f"{holder}[{facts.text(written.index) or '...'}]" if holder else ""


def _lasts(name: str, call: ir.Call, facts: Facts) -> bool:
    """True for what a caller gives, a part of something else, and a name that is read again."""
    if any(one.name == name for one in facts.body.parameters) or is_read_after(facts.body, call, name):
        return True
    stores = Lookup.of(facts.body).stores(name)
    made = facts.definition(stores[0].value) if len(stores) == 1 else None
    return isinstance(made, (ir.Attribute, ir.Subscript, ir.Iterate))


def _only_change(store: ir.Store, facts: Facts) -> ir.Op | None:
    """The first change in place of what a name holds, where the name is bound once and is read for its changes alone."""
    body, lookup = facts.body, Lookup.of(facts.body)
    others = [one for one in facts.program.bodies if one is not body and Lookup.of(one).loads(store.name)]
    if others or not all(one is store or _is_of_change(one, lookup) for one in lookup.stores(store.name)):
        return None
    sharing = sharing_of(body, facts.analysis)
    changes = [op for op, below in sharing.changes if below.place == store.name and below.move is None]
    reads = [load for name in (store.name, *sharing.rows_of(store.name)) for load in lookup.loads(name)]
    ends = frozenset(map(id, changes))
    is_read = not all(_feeds(load.dst, ends, lookup) for load in reads)
    return None if is_read else next(iter(changes), None)


def _is_of_change(store: ir.Store, lookup: Lookup) -> bool:
    """True for the binding that `weight *= mask` makes of what the name holds already."""
    change = lookup.definition(store.value)
    target = lookup.definition(change.target) if isinstance(change, ir.AugmentedAssign) else None
    return isinstance(target, ir.Load) and target.name == store.name


def _feeds(register: ir.Register, changes: frozenset[int], lookup: Lookup) -> bool:
    """True where what is read goes into changes of the same memory alone: `row[:] = sorted(row)`."""
    for reader in lookup.readers(register):
        if isinstance(reader, ir.Iterate):
            continue  # its names are asked for themselves
        if isinstance(reader, ir.Attribute) and reader.name in ASKED:
            continue
        is_change = id(reader) in changes
        if isinstance(reader, ir.Call) and is_change:
            if not all(isinstance(after, ir.Discard) for after in lookup.readers(reader.dst)):
                return False
        elif isinstance(reader, ir.ValueOp):
            is_method = isinstance(reader, ir.Call) and reader.function == register
            if is_method and not lookup.readers(reader.dst):
                return False
            if not is_change and not _feeds(reader.dst, changes, lookup):
                return False
        elif not is_change:
            return False
    return True
