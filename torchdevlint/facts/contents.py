"""What a loaded file holds, by the use of the result and by the words around it: weights, or data that the CPU made.

Data are prepared data sets, splits, vocabularies, caches of inputs, states of random generators.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.loads import is_saved_on_host, path_words, paths_written
from torchdevlint.facts.once import once_per_body, once_per_file
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
from torchdevlint.stubs.knowledge.functions import SAVES

_MOVES = frozenset({"to", "cuda"})  # of a lone tensor, or of a module, whose name tells it
_SHOWS = ("matplotlib.", "seaborn.", "json.")
_FLAGS = ("is_", "has_")
_BY_KEY = frozenset({"get", "pop"})
_EXISTS = frozenset({"exists", "isfile", "is_file"})
# What torch_geometric's data sets call their prepared files; each set writes them itself, from the CPU.
_DATA_ATTRIBUTES = frozenset({"processed_paths", "processed_file_names", "processed_dir"})
_DATA_FOLDERS = frozenset({"split", "splits", "processed", "train_test_split"})
# `train.expname` is no file, but the name of a setting.
_ENDING = r"\.(?:bin|ckpt|csv|dat|data|gz|h5|hdf5|json|mat|npy|npz|pickle|pkl|pt|pth|t7|tar|tgz|th|tsv|txt|zip)\Z"
_DATA_FILES = re.compile(rf"(?:\A|/)(?:train|val|valid|test)(?:_data|_set)?{_ENDING}")
_COUNT_FILES = re.compile(rf"(?:\A|_)(?:t|steps|counters?){_ENDING}")  # `optim_t.pt`: a number
_WHICH = re.compile(r"\A(?:best|last|start|current|num|n)_")  # `best_epoch`: a number as well
_DATA_WORDS = re.compile(
    r"(?:\A|[^a-z])(?:splits?|vocab(?:s|ulary)?|corpus|metadata|meta|transforms|tokenizer|indices)(?:[^a-z]|\Z)",
    re.IGNORECASE,
)
# The state of random generators, which PyTorch gives as bytes on the CPU, be it that of a GPU.
_RANDOM_STATES = re.compile(r"(?:\A|[^a-z])(?:rng|random_states?)(?:[^a-z]|\Z)")


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
    return _WHICH.sub("", key) in COUNTS or bool(MEASURED.search(key))


@once_per_file
def _makes_it_on_cuda(facts: Facts) -> bool:
    """True in a file that saves as well, and speaks of CUDA: what it saves may have been there."""
    saves = any(
        facts.analysis.spelled(op.dst, body) == "torch.save"
        for body in facts.program.bodies
        for op in Lookup.of(body).attributes("save")
    )
    return saves and facts.mentions("cuda", "use_cuda")


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


def names_data(call: ir.Call, facts: Facts) -> bool:
    """True when the name of the file that is loaded says that it holds prepared data, the state of random generators, or a count."""
    return any(map(_is_data_name, path_words(call, facts) | paths_written(call, facts)))


def is_own_cache(call: ir.Call, facts: Facts) -> bool:
    """True for `if exists(p): x = torch.load(p) else: x = ...; torch.save(x, p)`: a file that this body fills with what it makes itself.

    The body must not move what it saves.
    """
    path = facts.place(call.argument("f", 0))
    name = _stored_name(call, facts)
    if not path or not name:
        return False
    by_name = facts.analysis.calls_in(facts.body)
    return (
        any(_saves(op, name, path, facts) for op in facts.analysis.calls_to(SAVES, facts.body))
        and any(_mentions(op, path, facts) for op in _tests_for_files(facts.body, facts))
        and not (f"{name}.to" in by_name or f"{name}.cuda" in by_name)
    )


@once_per_body
def _tests_for_files(body: ir.Body, facts: Facts) -> list[ir.Call]:
    """The calls that ask whether a file is there."""
    index = facts.analysis.index_of(body)
    return [op for op in Lookup.of(body).kind(ir.Call) if index.dotted(op.function).rpartition(".")[2] in _EXISTS]


def _saves(op: ir.Call, name: str, path: str, facts: Facts) -> bool:
    return facts.place(op.argument("obj", 0)) == name and facts.place(op.argument("f", 1)) == path


def _mentions(op: ir.Call, path: str, facts: Facts) -> bool:
    written = facts.definition(op.function)
    receivers = [written.object] if isinstance(written, ir.Attribute) else []
    return any(facts.place(register) == path for register in (*receivers, *(given.value for given in op.arguments)))


def _stored_name(call: ir.Call, facts: Facts) -> str:
    names = [op.name for op in Lookup.of(facts.body).readers(call.dst) if isinstance(op, ir.Store)]
    return names[0] if len(names) == 1 else ""


def _is_data_name(word: str) -> bool:
    if word.isidentifier():
        return word in _DATA_ATTRIBUTES or bool(_RANDOM_STATES.search(word))
    folders, _, file = word.rpartition("/")
    return not _DATA_FOLDERS.isdisjoint([*folders.split("/"), file]) or any(
        words.search(file)
        for words in (_DATA_FILES, _RANDOM_STATES, _COUNT_FILES, *((_DATA_WORDS,) if "." in file else ()))
    )
