"""What a loaded file holds, by the use of the result and by the words around it: weights, or data that the CPU made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.once import once_per_file
from torchdevlint.infer.checkpoints import (
    CHECKPOINT,
    COUNTERS,
    COUNTS,
    DATA,
    HOST_KEYS,
    MEASURED,
    MODULE_METHODS,
    TENSOR_METHODS,
)
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.loaded import is_saved_on_host, path_words

_HANDS_ON = frozenset({"items", "values", "copy", "float", "half", "to", "cuda", "cpu", "detach"})
_MOVES = frozenset({"to", "cuda"})  # of a lone tensor, or of a module, whose name tells it
_SHOWS = ("matplotlib.", "seaborn.", "json.")
_FLAGS = ("is_", "has_")
_BY_KEY = frozenset({"get", "pop"})


def holds_checkpoint(call: ir.Call, facts: Facts) -> bool:
    """True for a file of weights or of a training run's state; False where nothing tells, or where it holds data.

    What is done with the result counts first, then the name that it gets, the path, the function, and last whether the file restores weights at all.
    """
    seen = _follow(call, facts)
    known = [key for key in seen.keys if (CHECKPOINT.search(key) and not key.startswith(_FLAGS)) or key in COUNTERS]
    if not seen.is_weights and seen.keys and all(_is_number(key) for key in seen.keys):
        return any(CHECKPOINT.search(name) for name in seen.names or path_words(call, facts))
    if seen.is_weights or (known and len(known) * 2 >= len(seen.keys)):
        return True
    if seen.is_shown:
        return False
    if seen.is_data or seen.keys:
        return any(CHECKPOINT.search(name) for name in seen.names or {facts.body.name})
    for words in (seen.names, path_words(call, facts), {facts.body.name}):
        if any(CHECKPOINT.search(word) for word in words):
            return True
        if any(DATA.search(word) for word in words):
            return False
    return facts.mentions("load_state_dict") or _makes_it_on_cuda(facts)


def stays_in_program(call: ir.Call, facts: Facts) -> bool:
    """True for a training state of which the program reads a part by its key and keeps the whole under a name as long as it runs."""
    seen = _follow(call, facts)
    is_main = facts.body.kind == "module" or facts.body.name == "main"
    return is_main and bool(seen.names) and bool(seen.keys)


def _is_number(key: str) -> bool:
    return key in COUNTS or bool(MEASURED.search(key))


@once_per_file
def _makes_it_on_cuda(facts: Facts) -> bool:
    """True in a file that saves as well, and speaks of CUDA: what it saves may have been there."""
    saves = any(
        facts.analysis.resolve_text(_root(op, body, facts)) == "torch"
        for body in facts.program.bodies
        for op in Lookup.of(body).attributes("save")
    )
    return saves and facts.mentions("cuda", "use_cuda")


def _root(op: ir.Attribute, body: ir.Body, facts: Facts) -> str:
    written = facts.analysis.index_of(body).definitions[op.object]
    return written.name if isinstance(written, ir.Load) else ""


def is_saved_from_host(call: ir.Call, facts: Facts) -> bool:
    """True when the result is read by the keys of a framework that saves its weights from the CPU, and in no other way.

    So is it when the project saves from the CPU what is loaded.
    """
    seen = _follow(call, facts)
    by_framework = bool(seen.keys) and seen.keys <= HOST_KEYS and not seen.whole
    return by_framework or is_saved_on_host(call, frozenset(seen.keys), facts)


@dataclass(slots=True)
class _Seen:
    """What one body does with a loaded value: the names that it gets and the keys that are read from it."""

    names: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    is_weights: bool = False
    is_data: bool = False
    is_shown: bool = False  # a plot or a text is made of it, which takes no tensor of a GPU
    whole: bool = False  # it is loaded into a module as it is, without a key


def _follow(call: ir.Call, facts: Facts) -> _Seen:
    seen, lookup = _Seen(), Lookup.of(facts.body)
    held, whole = {call.dst}, {call.dst}
    size = -1
    readers: dict[int, ir.Op] = {}  # of what is held, and of the names that it has
    asked: set[ir.Register] = set()
    named: set[str] = set()
    while size != len(held) + len(whole) + len(seen.names):
        size = len(held) + len(whole) + len(seen.names)
        for register in held - asked:
            for op in lookup.readers(register):
                called = lookup.readers(op.dst) if isinstance(op, ir.Attribute) else ()  # of its methods
                readers.update((id(reader), reader) for reader in (op, *called))
        for name in seen.names - named:
            readers.update((id(op), op) for op in lookup.loads(name))
        asked, named = set(held), set(seen.names)
        for op in tuple(readers.values()):
            _read(op, held, whole, seen, facts)
    return seen


def _read(op: ir.Op, held: set[ir.Register], whole: set[ir.Register], seen: _Seen, facts: Facts) -> None:
    """Take one operation into account: `held` are the registers of the value and of its parts, `whole` those of the value itself."""
    if isinstance(op, ir.Load):
        if op.name in seen.names:
            held.add(op.dst)
            whole.add(op.dst)
    elif isinstance(op, (ir.Store, ir.StoreAttribute)):
        if op.value in whole or (op.value in held and isinstance(op, ir.StoreAttribute)):
            seen.names.add(op.name)
    elif isinstance(op, ir.Subscript):
        if op.object in held:
            keys = _keys(op.index, facts)
            seen.keys |= keys if op.object in whole else set()
            if not keys or not all(MEASURED.search(key) for key in keys):
                held.add(op.dst)
    elif isinstance(op, ir.Compare):
        if op.operators[0] in ("in", "not in") and op.comparators[0] in held:
            seen.keys |= _keys(op.left, facts)
    elif isinstance(op, ir.Attribute):
        if op.object in held:
            seen.is_weights = seen.is_weights or op.name in MODULE_METHODS
            seen.is_data = seen.is_data or op.name in TENSOR_METHODS or (op.name in _MOVES and op.object in whole)
    elif isinstance(op, ir.Call):
        _read_call(op, held, whole, seen, facts)
    elif isinstance(op, (ir.Unpack, ir.Iterate, ir.Comprehension, ir.Enter)):
        source = getattr(
            op, {"Unpack": "source", "Iterate": "iterable", "Enter": "manager"}.get(type(op).__name__, "value")
        )
        if source in held:
            held.add(op.dst)
        if source in whole and isinstance(op, ir.Unpack):
            whole.add(op.dst)
        elif source in whole and isinstance(op, ir.Iterate):
            seen.is_data = True
    elif isinstance(op, ir.Choice) and not held.isdisjoint(op.values):
        held.add(op.dst)
        if not whole.isdisjoint(op.values):
            whole.add(op.dst)


def _read_call(op: ir.Call, held: set[ir.Register], whole: set[ir.Register], seen: _Seen, facts: Facts) -> None:
    written = facts.definition(op.function)
    name = written.name if isinstance(written, (ir.Attribute, ir.Load)) else ""
    if isinstance(written, ir.Attribute) and written.object in held:
        if name in _HANDS_ON or name in _BY_KEY:
            held.add(op.dst)
        if name in _MOVES and written.object in whole:
            whole.add(op.dst)
        if name in _BY_KEY and written.object in whole:
            seen.keys |= _keys(op.positional(0), facts)
    given = [argument.value for argument in op.arguments if argument.value in held]
    if not given:
        return
    seen.is_shown = seen.is_shown or facts.analysis.resolve_text(facts.index.dotted(op.function)).startswith(_SHOWS)
    if CHECKPOINT.search(name):
        seen.is_weights = True
        seen.whole = seen.whole or not whole.isdisjoint(given)


def _keys(register: ir.Register | None, facts: Facts) -> set[str]:
    """The strings that an index may be: a literal, a choice between literals, a name that is bound to such."""
    return set(_literals(register, facts, 3))


def _literals(register: ir.Register | None, facts: Facts, depth: int) -> Iterator[str]:
    written = facts.definition(register)
    if isinstance(written, ir.Constant) and isinstance(written.value, str):
        yield written.value
    elif isinstance(written, ir.Choice):
        for value in written.values:
            yield from _literals(value, facts, depth)
    elif isinstance(written, ir.Load) and depth:
        for value in facts.index.bound_to(written.name):
            yield from _literals(value, facts, depth - 1)
