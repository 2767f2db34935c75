"""What shares the memory of what in a body, and what changes it in place.

`.to(device)`, `.cpu()` and `torch.from_numpy(x).to(device)` give the very memory of what they are called on where that is there already (torch/_tensor_docs.py),
and a copy where it is elsewhere. What is changed behind them is then changed for both, or for one alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from torchdevlint.facts.analysis import FileFacts
from torchdevlint.facts.calls import callees
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.source.grounds import remembered
from torchdevlint.stubs import loader
from torchdevlint.stubs.knowledge import modules
from torchdevlint.stubs.knowledge.tensor_attributes import DTYPES

MOVES = frozenset({"to", "cuda", "cpu", "xpu"})
_VIEWS = frozenset(
    "numpy detach view squeeze unsqueeze t transpose permute swapaxes narrow requires_grad_ unbind chunk split".split()
)
_VIEWED = frozenset({"data", "T", "mT"})
_SHARING = frozenset({"torch.from_numpy", "torch.as_tensor", "torch.asarray", "numpy.asarray", "numpy.asanyarray"})
_NO_CHANGES = frozenset({"requires_grad_", "detach_", "share_memory_"})
_CHANGED_FIRST = frozenset(
    "numpy.copyto numpy.put numpy.place numpy.putmask numpy.fill_diagonal numpy.random.shuffle random.shuffle".split()
)
ASKED = frozenset(
    "shape ndim dtype size dim numel device grad requires_grad is_cuda nbytes itemsize names layout stride".split()
)
_WALKS = frozenset({"zip", "enumerate", "reversed"})
_DEEPEST = 3


class Base(NamedTuple):
    """What lies below views and moves: the path that it was read from, what read it, and the outermost move on the way."""

    place: str
    register: ir.Register
    move: ir.Call | None
    is_array: bool  # something on the way is for tensors and arrays alone


class Sharing:
    """The operations of one body by the memory that they read and change."""

    def __init__(self, body: ir.Body, analysis: FileFacts, depth: int = 0) -> None:
        self.body, self.analysis, self._depth = body, analysis, depth
        self._lookup = Lookup.of(body)
        self._arrays: dict[str, bool] = {}
        self._paths: dict[str, str] = {}

    @cached_property
    def facts(self) -> Facts:
        """What else is known of the body: it costs an inference where nobody has asked before."""
        return Facts(self.analysis, self.analysis.frame_of(self.body))

    @cached_property
    def self_name(self) -> str:
        """The name of the object itself in a method."""
        return self.analysis.index_of(self.body).self_name

    # ------------------------------------------------------------------------------------------------ below

    def base(self, register: ir.Register, through_names: bool = False) -> Base:
        """What a register shares its memory with where all moves on the way move nothing; `through_names` that are bound once, too."""
        move: ir.Call | None = None
        is_array = False
        passed: set[ir.Register] = set()  # `rows = rows.view(-1)` is bound to something of itself
        while True:
            passed.add(register)
            written = self._lookup.definition(register)
            below: ir.Register | None = None
            if isinstance(written, ir.Attribute) and written.name in _VIEWED:
                below, is_array = written.object, True
            elif isinstance(written, ir.Subscript) and self._is_view(written.index):
                below = written.object
            elif isinstance(written, ir.Call):
                found = self._below(written)
                below = found.below if found is not None else None
                move = move or (written if found is not None and found.moves else None)
                is_array = is_array or (found is not None and found.is_array)
            elif isinstance(written, ir.Load) and through_names:
                stores = self._lookup.stores(written.name)
                below = stores[0].value if len(stores) == 1 and not self._is_end(stores[0].value) else None
            if below is None or below in passed:
                return Base(self._path(register), register, move, is_array)
            register = below

    def is_of_array(self, base: Base) -> bool:
        """True for a tensor or an array: the way tells so, or the analysis, or what is bound to the name."""
        return base.is_array or self._is_array(base.register)

    def _is_array(self, register: ir.Register) -> bool:
        if not self._depth and self.facts.value(register).kind in (Kind.TENSOR, Kind.NDARRAY):
            return True  # in another function a whole inference would be too dear
        written = self._lookup.definition(register)
        return isinstance(written, ir.Load) and self._holds_array(written.name)

    def _holds_array(self, name: str) -> bool:
        """True for a name that is bound once, to what gives tensors and arrays alone."""
        if name not in self._arrays:
            self._arrays[name] = False  # for a name that is bound to something of itself
            stores = self._lookup.stores(name)
            self._arrays[name] = len(stores) == 1 and self.is_of_array(self.base(stores[0].value))
        return self._arrays[name]

    def _is_end(self, register: ir.Register) -> bool:
        """True for what nothing lies below: a name stands for it."""
        written = self._lookup.definition(register)
        if isinstance(written, ir.Call):
            found = self._below(written)
            return found is None or found.below is None
        return not isinstance(written, (ir.Load, ir.Attribute, ir.Subscript))

    def _path(self, register: ir.Register) -> str:
        """The name that a register was read from, what a turn of a loop takes its items from, or an attribute of the object itself."""
        written = self._lookup.definition(register)
        if isinstance(written, ir.Load):
            if written.name not in self._paths:
                self._paths[written.name] = written.name  # of `for rows in rows`
                stores = self._lookup.stores(written.name)
                walked = self._walked(stores[0].value) if len(stores) == 1 else ""
                self._paths[written.name] = walked or written.name
            return self._paths[written.name]
        is_own = isinstance(written, ir.Attribute) and self._lookup.path(written.object) == self.self_name
        return self._lookup.path(register) if is_own and self.self_name else ""

    def _walked(self, register: ir.Register) -> str:
        """The path of the one array that a loop's variable is a row of."""
        walked = self._items_of(register)
        base = self.base(walked) if walked is not None else None
        return base.place if base is not None and base.move is None and self.is_of_array(base) else ""

    def _items_of(self, register: ir.Register) -> ir.Register | None:
        """What a loop takes a value from, also beside others: `for i, (row, name) in enumerate(zip(rows, names))`."""
        written = self._lookup.definition(register)
        if isinstance(written, ir.Iterate):
            return written.iterable
        walked = self._items_of(written.source) if isinstance(written, ir.Unpack) else None
        walk = self._lookup.definition(walked)
        if not isinstance(written, ir.Unpack) or not isinstance(walk, ir.Call):
            return None
        name = self._lookup.path(walk.function)
        at = written.index if name == "zip" else written.index - 1 if name == "enumerate" else -1
        return walk.positional(at) if at >= 0 else None

    def _is_view(self, index: ir.Register) -> bool:
        """True for an index that gives a view: slices and whole numbers."""
        written = self._lookup.definition(index)
        if isinstance(written, ir.Sequence):
            return all(self._is_view(one.value) for one in written.elements)
        return isinstance(written, ir.Slice) or (
            isinstance(written, ir.Constant) and not isinstance(written.value, (str, bool))
        )

    def _below(self, call: ir.Call) -> _Step | None:
        """What a call gives the memory of."""
        method = self._lookup.definition(call.function)
        name = method.name if isinstance(method, ir.Attribute) else ""
        called = self.analysis.spelled(call.function, self.body)
        if called in _SHARING:
            given = call.argument("obj" if "numpy." in called or called == "torch.asarray" else "data", 0)
            is_plain = call.keyword("dtype") is None and call.keyword("copy") is None and call.positional_count == 1
            moves = call.keyword("device") is not None
            is_array = called == "torch.from_numpy"  # the others take a list as well, which they copy on every machine
            return _Step(given, moves, is_array) if given is not None and is_plain else None
        if isinstance(method, ir.Attribute) and name in MOVES:
            return _Step(method.object, True, False) if self._only_moves(call) else None
        if isinstance(method, ir.Attribute) and (name in _VIEWS or works_in_place(name)):
            return _Step(method.object, False, name != "split")
        given = self.moved_by_helper(call)
        return _Step(given, True, True) if given is not None else None

    def _only_moves(self, call: ir.Call) -> bool:
        """True for a move that changes no type and asks for no copy."""
        if call.has_splat or call.keyword("dtype") is not None or call.keyword("copy") is not None:
            return False
        if call.positional_count > 1:
            return False
        if not self._depth:
            return self.facts.target_of_move(call) is not None
        given = call.positional(0)  # in another function, where a whole inference would be too dear
        spelled = self.analysis.spelled(given, self.body) if given is not None else ""
        return not (spelled.endswith("dtype") or spelled.rpartition(".")[2] in DTYPES)

    def moved_by_helper(self, call: ir.Call) -> ir.Register | None:
        """What a call gives to a function of the project that hands it back, moved: `def host(t): return t.detach().cpu()`."""
        if self._depth >= _DEEPEST or call.has_splat or not call.arguments:
            return None
        found = list(callees(call, self.body, self.analysis))
        if len(found) != 1 or found[0][0].kind != "function" or found[0][0].name == "__init__":
            return None
        body, analysis = found[0]
        name = _handed_back(body, analysis, self._depth + 1)
        if name is None:
            return None
        names = [one.name for one in body.parameters]
        return call.argument(name, names.index(name) - body.is_bound)

    # ------------------------------------------------------------------------------------------------ changes

    @cached_property
    def changes(self) -> tuple[tuple[ir.Op, Base], ...]:
        """What changes memory in place, and what lies below what it changes."""
        return tuple(self._all_changes())

    def _all_changes(self) -> Iterator[tuple[ir.Op, Base]]:
        for op in self._lookup.all:
            register = self._changed(op)
            if register is not None:
                yield op, self.base(register)
            elif isinstance(op, ir.Call):
                yield from ((op, self.base(one)) for one in self._changed_by_call(op))

    def _changed(self, op: ir.Op) -> ir.Register | None:
        if isinstance(op, ir.StoreSubscript):
            return op.object
        if isinstance(op, ir.AugmentedAssign):
            return op.target
        method = self._lookup.definition(op.function) if isinstance(op, ir.Call) else None
        if isinstance(method, ir.Attribute):
            if works_in_place(method.name):
                return method.object
            if method.name == "fill" or (method.name == "sort" and self.is_of_array(self.base(method.object))):
                is_array = self.facts.value(self.base(method.object).register).kind is Kind.NDARRAY
                return method.object if is_array else None
        return None

    def _changed_by_call(self, call: ir.Call) -> Iterator[ir.Register]:
        out = call.keyword("out")
        if out is not None:
            yield out
        called = self.analysis.spelled(call.function, self.body)
        first = call.positional(0)
        is_first_changed = called in _CHANGED_FIRST or (called.startswith("torch.nn.init.") and called.endswith("_"))
        if first is not None and (is_first_changed or called.rpartition(".")[2] in ("at", "shuffle")):
            yield first
        if self._depth < _DEEPEST and call.arguments and not call.has_splat:
            yield from self._changed_by_helper(call)

    def _changed_by_helper(self, call: ir.Call) -> Iterator[ir.Register]:
        found = list(callees(call, self.body, self.analysis))
        if len(found) != 1 or found[0][0].name == "__init__":
            return
        body, analysis = found[0]
        names = [one.name for one in body.parameters]
        for name in _changed_parameters(body, analysis, self._depth + 1):
            given = call.argument(name, names.index(name) - body.is_bound)
            if given is not None:
                yield given

    # ------------------------------------------------------------------------------------------------ reads

    def rows_of(self, name: str) -> Iterator[str]:
        """The names that loops bind to rows of what a name holds."""
        for store in self._lookup.kind(ir.Store):
            made = self._lookup.definition(store.value)
            if isinstance(made, (ir.Iterate, ir.Unpack)) and store.name != name and self._walked(store.value) == name:
                yield store.name

    def is_asked_only(self, read: ir.Load | ir.Attribute) -> bool:
        """True where what is read gives its shape, its type or its gradient alone."""
        readers = self._lookup.readers(read.dst)
        return bool(readers) and all(isinstance(op, ir.Attribute) and op.name in ASKED for op in readers)

    def given_to_optimizer(self) -> Iterator[tuple[ir.Call, ir.Register]]:
        """The tensors that an optimizer is built over in a list, each with the call that builds it."""
        for call in self._lookup.kind(ir.Call):
            given = call.argument("params", 0)
            if given is None or not modules.is_optimizer(self.analysis.spelled(call.function, self.body)):
                continue
            listed = self._lookup.definition(given)
            if isinstance(listed, ir.Load):
                stores = self._lookup.stores(listed.name)
                listed = self._lookup.definition(stores[0].value) if len(stores) == 1 else None
            if isinstance(listed, ir.Sequence):
                yield from ((call, one.value) for one in listed.elements)


class _Step(NamedTuple):
    below: ir.Register | None
    moves: bool
    is_array: bool


@remembered(1024)
def sharing_of(body: ir.Body, analysis: FileFacts) -> Sharing:
    """The sharing of one body, made once."""
    return Sharing(body, analysis)


def works_in_place(name: str) -> bool:
    """True for a method of tensors that changes them in place."""
    return name.endswith("_") and not name.endswith("__") and name in loader.tensor_methods() - _NO_CHANGES


@remembered(2048)
def _handed_back(body: ir.Body, analysis: FileFacts, depth: int) -> str | None:
    """The parameter that a function returns a move of, whichever way it ends; None for any other function."""
    lookup = Lookup.of(body)
    returned = [op.value for op in lookup.kind(ir.Return)]
    if not returned or lookup.kind(ir.Yield) or body.decorators or not lookup.has_attribute(*MOVES):
        return None
    sharing = Sharing(body, analysis, depth)
    found = {sharing.base(one).place if one is not None and sharing.base(one).move else "" for one in returned}
    name = found.pop()
    is_given = any(one.name == name for one in body.parameters) and not lookup.stores(name)
    return name if not found and is_given else None


@remembered(2048)
def _changed_parameters(body: ir.Body, analysis: FileFacts, depth: int) -> frozenset[str]:
    """The parameters that a function changes in place, where they are tensors or arrays."""
    lookup = Lookup.of(body)
    names = {one.name for one in body.parameters if one.name not in (body.is_bound and body.parameters[0].name,)}
    candidates = {name for name in names if lookup.loads(name) and not lookup.stores(name)}
    if not candidates:
        return frozenset()
    changes = Sharing(body, analysis, depth).changes
    return frozenset(base.place for _, base in changes if base.place in candidates and base.move is None)
