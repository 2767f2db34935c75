"""Files that hold data which the CPU made, no checkpoint: prepared data sets, splits, vocabularies, caches of inputs, states of random generators."""

from __future__ import annotations

import re

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.once import once_per_body
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.loaded import path_words
from torchdevlint.stubs.knowledge.functions import SAVES

_EXISTS = frozenset({"exists", "isfile", "is_file"})
# What torch_geometric's data sets call their prepared files; each set writes them itself, from the CPU.
_DATA_ATTRIBUTES = frozenset({"processed_paths", "processed_file_names", "processed_dir"})
_DATA_FOLDERS = frozenset({"split", "splits", "processed", "train_test_split"})
# `train.expname` is no file, but the name of a setting.
_ENDING = r"\.(?:bin|ckpt|csv|dat|data|gz|h5|hdf5|json|mat|npy|npz|pickle|pkl|pt|pth|t7|tar|tgz|th|tsv|txt|zip)\Z"
_DATA_FILES = re.compile(rf"(?:\A|/)(?:train|val|valid|test)(?:_data|_set)?{_ENDING}")
_COUNT_FILES = re.compile(rf"(?:\A|_)(?:t|steps|counters?){_ENDING}")  # `optim_t.pt`: a number
_DATA_WORDS = re.compile(
    r"(?:\A|[^a-z])(?:splits?|vocab(?:s|ulary)?|corpus|metadata|meta|transforms|tokenizer|indices)(?:[^a-z]|\Z)",
    re.IGNORECASE,
)
# The state of random generators, which PyTorch gives as bytes on the CPU, be it that of a GPU.
_RANDOM_STATES = re.compile(r"(?:\A|[^a-z])(?:rng|random_states?)(?:[^a-z]|\Z)")


def names_data(call: ir.Call, facts: Facts) -> bool:
    """True when the name of the file that is loaded says that it holds prepared data, the state of random generators, or a count."""
    return any(map(_is_data_name, path_words(call, facts)))


def is_own_cache(call: ir.Call, facts: Facts) -> bool:
    """True for `if exists(p): x = torch.load(p) else: x = ...; torch.save(x, p)`: a file that this body fills with what it makes itself.

    The body must not move what it saves.
    """
    path = facts.place(call.argument("f", 0))
    name = _stored_name(call, facts)
    if not path or not name or facts.frame is None:
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
