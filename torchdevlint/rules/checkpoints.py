"""What a loaded file holds, by the use of the result and by the words around it: weights, or data that the CPU made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.once import once_per_file
from torchdevlint.facts.uses import Use
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

_MOVES = frozenset({"to", "cuda"})  # of a lone tensor, or of a module, whose name tells it
_SHOWS = ("matplotlib.", "seaborn.", "json.")
_FLAGS = ("is_", "has_")
_BY_KEY = frozenset({"get", "pop"})


def holds_checkpoint(call: ir.Call, facts: Facts) -> bool:
    """True for a file of weights or of a training run's state; False where nothing tells, or where it holds data.

    What is done with the result counts first, then the name that it gets, the path, the function, and last whether the file restores weights at all.
    """
    seen = _seen(call, facts)
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
    seen = _seen(call, facts)
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
    seen = _seen(call, facts)
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


def _seen(call: ir.Call, facts: Facts) -> _Seen:
    seen = _Seen()
    for use in facts.uses(call, leaves=lambda read: _is_measured(read, facts)):
        op, name = use.op, use.callee.rpartition(".")[2]
        if (use.role == "named" and use.is_whole and isinstance(op, ir.Store)) or (
            use.role == "stored" and isinstance(op, ir.StoreAttribute)
        ):
            seen.names.add(op.name)
        elif use.role == "subscript" and use.is_whole and isinstance(op, ir.Subscript):
            seen.keys |= _keys(op.index, facts)
        elif isinstance(op, ir.Compare):
            seen.keys |= _keys(op.left, facts) if op.operators[0] in ("in", "not in") else set()
        elif use.role == "iterated":
            seen.is_data = seen.is_data or use.is_whole
        elif use.role in ("receiver", "attribute"):
            _read(name or getattr(op, "name", ""), use, seen, facts)
        elif use.role == "argument":
            seen.is_shown = seen.is_shown or use.callee.startswith(_SHOWS)
            is_weights = bool(CHECKPOINT.search(name))
            seen.is_weights = seen.is_weights or is_weights
            seen.whole = seen.whole or (is_weights and use.is_whole)
    return seen


def _read(name: str, use: Use, seen: _Seen, facts: Facts) -> None:
    """Take a method or another attribute into account that is asked for."""
    seen.is_weights = seen.is_weights or name in MODULE_METHODS
    seen.is_data = seen.is_data or name in TENSOR_METHODS or (name in _MOVES and use.is_whole)
    if name in _BY_KEY and use.is_whole and isinstance(use.op, ir.Call):
        seen.keys |= _keys(use.op.positional(0), facts)


def _is_measured(read: ir.Subscript, facts: Facts) -> bool:
    """True for `state["best_loss"]`, what is done with which tells nothing of the file."""
    keys = _keys(read.index, facts)
    return bool(keys) and all(MEASURED.search(key) for key in keys)


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
