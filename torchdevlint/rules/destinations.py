"""Where a loaded checkpoint goes: whether nothing but `load_state_dict` and moves ever see its tensors."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.scopes import nested
from torchdevlint.facts.values import Kind
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup, reads

# Methods of dicts that hand their tensors on; any other method may look into them.
_MAPPING_METHODS = frozenset({"items", "values", "get", "pop", "copy"})
_NAMES_ONLY = frozenset({"keys", "__contains__"})
_MOVES = frozenset({"to", "cuda", "cpu"})
# Entries that hold counters and settings; where they live does not matter to the loops and messages that read them.
_NO_TENSORS = frozenset(
    "epoch epochs start_epoch iter iteration iterations step steps global_step args config cfg hparams arch name".split()
)


def only_loaded(call: ir.Call, facts: Facts) -> bool:
    """True when the tensors of `call`'s result go only into `load_state_dict` (which copies them to its own device) or are moved first.

    What leaves the function, is stored in an object or is used in any other way is not followed: then the answer is False.
    """
    return _Destinations(facts).only_loaded(call.dst)


def may_assign(call: ir.Call, facts: Facts) -> bool:
    """True for `load_state_dict(state, assign=True)`, after which the module has the very tensors of the state, where they are."""
    assign = call.argument("assign", 2)
    return call.has_splat or (assign is not None and facts.constant(assign) is not False)


def is_assigned(call: ir.Call, facts: Facts) -> bool:
    """True when what `call` loads may become the parameters of a module of this body: where it is loaded to is where they are."""
    lookup = Lookup.of(facts.body)
    trail = lookup.trail(call.dst)
    for op in trail:
        if isinstance(op, ir.Store):
            for load in lookup.loads(op.name):
                trail.add(load.dst)
        elif (isinstance(op, (ir.Subscript, ir.Attribute)) and op.object in trail) or (
            isinstance(op, ir.Call) and op.function in trail
        ):
            trail.add(op.dst)
        elif isinstance(op, ir.Call) and lookup.called(op) == "load_state_dict" and may_assign(op, facts):
            return True
    return False


class _Destinations:
    """Follows the names and registers of one body that may hold a checkpoint's tensors."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._body = facts.body
        self._names: set[str] = set()
        self._held: set[ir.Register] = set()

    def only_loaded(self, start: ir.Register) -> bool:
        lookup = Lookup.of(self._body)
        self._held.add(start)
        pending: list[
            int
        ] = []  # numbers of operations: what stands first is followed first, as a call reads what its arguments hold

        def add(ops: Iterable[ir.Op]) -> None:
            for op in ops:
                heappush(pending, lookup.number(op))

        add(lookup.readers(start))
        while pending:
            held, names = len(self._held), len(self._names)
            op = lookup.all[heappop(pending)]
            if not self._follow(op):
                return False
            if len(self._names) > names and isinstance(op, ir.Store):
                add(lookup.loads(op.name))
            if isinstance(op, ir.Attribute) or (len(self._held) > held and isinstance(op, ir.ValueOp)):
                add(lookup.readers(op.dst))  # the call of a method reads the attribute
        return not any(self._is_seen_elsewhere(name) for name in self._names)

    def _is_seen_elsewhere(self, name: str) -> bool:
        """True for a name that another function of the file reads, or that is no local one."""
        if name in self._body.global_names or name in self._body.nonlocal_names:
            return True
        if self._body.kind not in ("function", "module"):
            return True
        others = (
            self._facts.program.bodies
            if self._body.kind == "module"
            else [one for inner in self._body.functions for one in nested(inner)]
        )
        return any(
            other is not self._body and name not in other.local_names and Lookup.of(other).loads(name)
            for other in others
        )

    def _follow(self, op: ir.Op) -> bool:
        """Take what the operation does with held tensors into account; False when it may show where they live."""
        held = self._held
        if isinstance(op, ir.Load):
            if op.name in self._names:
                held.add(op.dst)
            return True
        if isinstance(op, ir.Store):
            if op.value in held:
                self._names.add(op.name)
            return True
        if isinstance(op, ir.Subscript):
            if op.object in held and self._facts.constant(op.index) not in _NO_TENSORS:
                held.add(op.dst)
            return op.index not in held
        if isinstance(op, ir.Attribute):
            return op.object not in held or op.name in _MAPPING_METHODS | _NAMES_ONLY | _MOVES
        if isinstance(op, ir.Call):
            return self._follow_call(op)
        if isinstance(op, (ir.Iterate, ir.Unpack)):
            source = op.iterable if isinstance(op, ir.Iterate) else op.source
            if source in held and not self._is_key(op):
                held.add(op.dst)
            return True
        if isinstance(op, ir.Comprehension):
            if op.value in held:
                held.add(op.dst)
            return True
        if isinstance(op, ir.StoreSubscript):
            return op.value not in held
        if isinstance(op, (ir.Compare, ir.Discard)):
            return not isinstance(op, ir.Compare) or op.left not in held
        return not any(register in held for register in reads(op))

    def _is_key(self, op: ir.Op) -> bool:
        """True for the `k` of `for k, v in state.items()`."""
        pair = self._facts.definition(op.source) if isinstance(op, ir.Unpack) and op.index == 0 else None
        items = self._facts.definition(pair.iterable) if isinstance(pair, ir.Iterate) else None
        method = self._facts.definition(items.function) if isinstance(items, ir.Call) else None
        return isinstance(method, ir.Attribute) and method.name == "items"

    def _follow_call(self, op: ir.Call) -> bool:
        if op.function in self._held:
            return False
        written = self._facts.definition(op.function)
        given = [argument for argument in op.arguments if argument.value in self._held]
        if isinstance(written, ir.Attribute) and written.object in self._held:
            if written.name in _MAPPING_METHODS:
                first = op.positional(0)
                key = self._facts.constant(first) if first is not None else None
                if not isinstance(key, str) or key not in _NO_TENSORS:
                    self._held.add(op.dst)
            return not given or written.name in ("get", "pop")
        if not given:
            return True
        if isinstance(written, ir.Attribute) and written.name == "load_state_dict":
            receiver = self._facts.value(written.object)
            positional = op.positional(0)
            return (
                [argument.value for argument in given] in ([positional], [op.keyword("state_dict")])
                and receiver.kind is not Kind.INSTANCE
                and not may_assign(op, self._facts)
            )
        return self._facts.callee(op) in ("builtins.len", "builtins.isinstance", "builtins.hasattr")
