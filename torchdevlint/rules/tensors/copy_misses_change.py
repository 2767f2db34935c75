"""TDL525."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from torchdevlint.facts.class_shape import reached
from torchdevlint.facts.facts import ClassSummary, Facts
from torchdevlint.facts.scopes import binds, scopes_of
from torchdevlint.facts.sharing import MOVES, Base, Sharing, sharing_of
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import is_read_inside
from torchdevlint.rules.rule import WARNING, Mention, Report, Rule, on_op
from torchdevlint.rules.structure import may_follow

_SETUP = ("__init__", "__post_init__")


class CopyMissesChange(Rule):
    """Finds what a move copies once, and changes in place that reach only one of the two.

    ## What it does
    Reports a name or an attribute that is bound to the result of `.to(device)`, `.cpu()`, `.cuda()` or `torch.as_tensor(..., device=...)`, also through
    `.numpy()`, `torch.from_numpy` and views, where the original is changed in place afterwards and the result is read, or where the result is changed in
    place, nothing reads it any more, and the original is read.

    ## Why is this bad?
    On the CPU a move to the CPU returns the tensor itself, and NumPy shares its memory: both names are one tensor, and a change of one is seen by the other.
    On an accelerator the result is a copy of what was there when it was made. The program goes on with old values there, without an error.

    ## Example
        self.trust = np.ones(n, dtype=np.float32)
        self.table = torch.from_numpy(self.trust).to(device)  # and `update` writes `self.trust[index] = ...`

    ## Use instead
        self.trust = np.ones(n, dtype=np.float32)

        def table(self):
            return torch.from_numpy(self.trust).to(self.device)

    ## When it stays silent
    The tensor is there already; the copy is made again, or is changed as well, after the change; the original gets another value by assignment, which
    neither machine sees; a copy that changes a type or asks for `copy=True`, which is one everywhere.

    ## Proof
    A table that is made once from an array misses its updates on an accelerator; made again where it is read it has them.

    ## References
    torch/_tensor_docs.py (`to`: "returns self" where it is there already), torch/csrc/utils/tensor_numpy.cpp (shared memory).
    """

    code, name, severity = "TDL525", "copy-misses-change", WARNING

    @on_op(ir.Store)
    def check_name(self, store: ir.Store, facts: Facts) -> Iterator[Report]:
        """`spins = torch.from_numpy(start).to(device)`."""
        if not _may_copy(store.value, facts):
            return
        sharing = sharing_of(facts.body, facts.analysis)
        base = sharing.base(store.value)
        if base.move is None or not base.place or base.place == store.name or _is_there(base.move, facts):
            return
        found = _missed(store, base, sharing) or _lost(store, base, sharing)
        if found is None and facts.body.kind == "module":
            found = _missed_by_functions(store, base, facts)
        if found is not None:
            yield self._told(base, found, store.name)

    @on_op(ir.StoreAttribute)
    def check_attribute(self, store: ir.StoreAttribute, facts: Facts) -> Iterator[Report]:
        """`self.table = self.values.to(device)` in a constructor."""
        name, summary = facts.index.self_name, facts.class_summary
        if summary is None or not name or facts.place(store.object) != name or facts.body.name not in _SETUP:
            return
        if not _may_copy(store.value, facts, through_names=True):
            return
        sharing = sharing_of(facts.body, facts.analysis)
        base = sharing.base(store.value, through_names=True)
        source = _attribute_of(base, name, sharing) if base.move is not None else ""
        if not source or source == store.name or base.move is None or _is_there(base.move, facts):
            return
        found = _missed_by_class(store, source, base, summary, facts)
        if found is not None:
            yield self._told(base, found, f"{name}.{store.name}")

    def _told(self, base: Base, found: _Found, name: str) -> Report:
        assert base.move is not None
        changed, read = (name, found.place) if found.is_lost else (found.place, name)
        mend = "move the result back" if found.is_lost else "make it again, or clone it"
        message = f"off the CPU `{read}` misses the change of `{changed}` on line {{0}}; {mend}"
        return self.report(
            base.move,
            message,
            detail="Where nothing is to be moved both are one tensor, or share the memory of an array, and what is changed in one is changed in the other. "
            f"If `{read}` is to see the change, {mend}; if it is not, `.clone()` keeps them apart on every machine.",
            related=(Mention(found.change, "here it is changed in place"), Mention(found.read, "here it is read")),
        )


class _Found(NamedTuple):
    """A change in place that does not reach what is read afterwards."""

    change: ir.Op
    read: ir.Op
    place: str  # the original
    is_lost: bool = False


def _may_copy(register: ir.Register, facts: Facts, through_names: bool = False) -> bool:
    """False for most of what is bound: a question before all others, which is cheap."""
    made = facts.definition(register)
    return isinstance(made, (ir.Call, ir.Attribute, ir.Subscript)) or (through_names and isinstance(made, ir.Load))


def _is_there(move: ir.Call, facts: Facts) -> bool:
    """True where the tensor is certainly there already, so that both are one on every machine."""
    method = facts.definition(move.function)
    if not isinstance(method, ir.Attribute) or method.name not in MOVES:
        given = move.positional(0)
        return given is not None and facts.frame.are_together(given, move.dst)
    return facts.frame.is_already_at(method.object, move.argument("device", 0), method.name == "cpu")


def _missed(store: ir.Store, base: Base, sharing: Sharing) -> _Found | None:
    """A change of the original, behind which the copy is read."""
    cfg, lookup = Cfg.of(sharing.body), Lookup.of(sharing.body)
    changes = sharing.changes
    if any(below.place == store.name for _, below in changes):
        return None  # it may be what brings the values over
    for change, below in changes:
        if below.place != base.place or below.move is not None or not (base.is_array or sharing.is_of_array(below)):
            continue
        if not may_follow(sharing.body, store, change) or not _is_the_same(base, store, change, sharing):
            continue
        for read in lookup.loads(store.name):
            is_this = cfg.bindings(store.name, read).stores == (store,)
            if is_this and cfg.may_follow(change, read, store) and not sharing.is_asked_only(read):
                return _Found(change, read, base.place)
    return None


def _lost(store: ir.Store, base: Base, sharing: Sharing) -> _Found | None:
    """The last change of the copy, which nothing reads any more, where the original is read."""
    body, cfg, lookup = sharing.body, Cfg.of(sharing.body), Lookup.of(sharing.body)
    if "." in base.place or body.kind == "class" or is_read_inside(body, store.name):
        return None
    changes = sharing.changes
    if any(below.place == base.place for _, below in changes):
        return None
    for change, below in changes:
        if below.place != store.name or below.move is not None or not (base.is_array or sharing.is_of_array(below)):
            continue
        if cfg.bindings(store.name, change).stores != (store,) or not _is_the_same(base, store, change, sharing):
            continue
        if any(
            may_follow(sharing.body, change, read) and not sharing.is_asked_only(read)
            for read in lookup.loads(store.name)
        ):
            continue
        for read in lookup.loads(base.place):
            is_value = may_follow(sharing.body, change, read) and not sharing.is_asked_only(read)
            if is_value and _is_the_same(base, store, read, sharing):
                return _Found(change, read, base.place, is_lost=True)
    return None


def _missed_by_functions(store: ir.Store, base: Base, facts: Facts) -> _Found | None:
    """A change, in a function, of what a name of the module is a copy of, where that name is never renewed and a function reads it."""
    module, lookup = facts.body, Lookup.of(facts.body)
    if not base.place.isidentifier() or len(lookup.stores(store.name)) != 1 or len(lookup.stores(base.place)) != 1:
        return None
    change: ir.Op | None = None
    read: ir.Op | None = None
    for body in facts.program.bodies:
        inside = Lookup.of(body)
        names = {name for name in (store.name, base.place) if inside.loads(name) and _is_of_module(name, body)}
        if body is module or not names:
            continue
        if any(inside.stores(name) for name in names):
            return None
        sharing = sharing_of(body, facts.analysis)
        for op, below in sharing.changes:
            if below.place == store.name and store.name in names:
                return None
            is_change = below.place == base.place and base.place in names and below.move is None
            if change is None and is_change and (base.is_array or sharing.is_of_array(below)):
                change = op
        if read is None and store.name in names:
            read = next((one for one in inside.loads(store.name) if not sharing.is_asked_only(one)), None)
    return _Found(change, read, base.place) if change is not None and read is not None else None


def _is_of_module(name: str, body: ir.Body) -> bool:
    """True for a name that means the module's, in a function: neither it nor one around it has its own."""
    return not any(binds(one, name) for one in scopes_of(body) if one.kind != "module")


def _is_the_same(base: Base, store: ir.Store, op: ir.Op, sharing: Sharing) -> bool:
    """True where the original is bound to the same thing at an operation as it was at the copy, however it was changed in place."""
    if "." in base.place:
        lookup = Lookup.of(sharing.body)
        return all(
            isinstance(lookup.definition(one.value), ir.AugmentedAssign)
            for one in lookup.attribute_stores(base.place.rpartition(".")[2])
        )
    cfg = Cfg.of(sharing.body)
    return _bound(base.place, op, cfg, sharing) == _bound(base.place, store, cfg, sharing)


def _bound(name: str, op: ir.Op, cfg: Cfg, sharing: Sharing) -> set[int]:
    """The bindings that may hold at an operation; one by `+=` stands for what it changes."""
    found, pending, seen = set[int](), [op], set[int]()
    lookup = Lookup.of(sharing.body)
    while pending:
        at = pending.pop()
        bindings = cfg.bindings(name, at)
        if bindings.parameter is not None or bindings.unbound:
            found.add(0)
        for store in bindings.stores:
            if id(store) in seen:
                continue
            seen.add(id(store))
            is_change = isinstance(lookup.definition(store.value), ir.AugmentedAssign)
            if is_change:
                pending.append(store)
            else:
                found.add(id(store))
    return found


def _attribute_of(base: Base, self_name: str, sharing: Sharing) -> str:
    """The attribute of the object that holds the original: it was read from there, or is kept there as well."""
    if base.place.startswith(f"{self_name}."):
        return base.place.partition(".")[2]
    lookup = Lookup.of(sharing.body)
    for store in lookup.kind(ir.StoreAttribute):
        written = lookup.definition(store.value)
        is_same = store.value == base.register or (isinstance(written, ir.Load) and written.name == base.place)
        if is_same and lookup.path(store.object) == self_name:
            return store.name
    return ""


def _missed_by_class(
    store: ir.StoreAttribute, source: str, base: Base, summary: ClassSummary, facts: Facts
) -> _Found | None:
    """A change, in another method, of what an attribute is a copy of, where that attribute is never renewed."""
    own = f"{facts.index.self_name}.{source}"
    setup = reached(facts.analysis, summary, [facts.body.name])
    later = {name: body for name, body in summary.cls.methods.items() if name not in setup}
    change: ir.Op | None = None
    read: ir.Op | None = None
    for body in summary.cls.methods.values():
        lookup, is_later = Lookup.of(body), body.name in later
        if any(one is not store for one in lookup.attribute_stores(store.name)):
            return None
        if is_later and any(
            not isinstance(lookup.definition(one.value), ir.AugmentedAssign) for one in lookup.attribute_stores(source)
        ):
            return None
        if not (lookup.has_attribute(source) or lookup.has_attribute(store.name)):
            continue
        sharing = sharing_of(body, facts.analysis)
        name = sharing.facts.index.self_name
        for op, below in sharing.changes:
            if below.place == f"{name}.{store.name}":
                return None
            if is_later and below.place == f"{name}.{source}" and below.move is None and change is None:
                change = op if base.is_array or sharing.is_of_array(below) else None
        for built, given in sharing.given_to_optimizer():
            below = sharing.base(given)
            if change is None and below.place == f"{name}.{source}" and below.move is None:
                change = built
        if is_later and read is None:
            reads = (one for one in lookup.attributes(store.name) if lookup.path(one.object) == name)
            read = next((one for one in reads if not sharing.is_asked_only(one)), None)
    return _Found(change, read, own) if change is not None and read is not None else None
