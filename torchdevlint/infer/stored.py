"""What files hold: `torch.save` writes a value to a path, and `torch.load` reads what the program, or another of the project, wrote to it.

A save is an effect of the function that saves: a caller tells the path, and the devices of what is saved. A load claims that this machine has the
devices that the file was saved from; `holding` decides it, from all writes of the project.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from torchdevlint.infer import modules, paths
from torchdevlint.infer.checkpoints import COUNTERS, PLAIN_STATE
from torchdevlint.infer.joins import join
from torchdevlint.infer.options import is_option
from torchdevlint.infer.state import PLACED, RENEWED, Facts, renewal
from torchdevlint.infer.summary import Event
from torchdevlint.infer.values import (
    HOST,
    NONE,
    NOWHERE,
    NUMBER,
    TRUE,
    UNKNOWN,
    UNMOVED,
    Bound,
    Cls,
    Const,
    Ext,
    OneOf,
    Place,
    Rec,
    Ref,
    Site,
    Tensor,
    Term,
    Text,
    Tup,
    Value,
    alternatives,
    options_of,
    parts_of,
    places_of,
    waits,
)
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup, reads

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

FILES = Ref("files")
"""The heap object that knows what this run has written and downloaded."""

LOADED = "@loaded"  # the file that something unknown was read from

_MOST_LEAVES = 16
_MOST_NESTED = 5
_MOST_KEYS = 40
_KEEPS_RECEIVER = frozenset("state_dict detach clone float half contiguous copy items values keys".split())
# What gives no tensor, or one on the CPU, whatever it is given.
_PLAIN = frozenset("numpy tolist item asdict dumps to_dict to_container get_rng_state getstate get_state".split())
_TO_CPU = re.compile(r"(?:\A|_)cpu(?:_|\Z)")
_COUNTERS = COUNTERS | {"best_acc", "name"}
_HAVE_NO_TENSORS = ("torch", "numpy", "builtins")
DOWNLOADS = re.compile(r"download|urlretrieve|http_get|_from_url|cached_path|cached_file", re.IGNORECASE)
_SAVES = (
    Ext("torch.save"),
    Ext("torch.serialization.save"),
    Ext("torch.distributed.checkpoint.format_utils.dcp_to_torch_save"),
)
# As a whole word: `save_policy`, `maybeSaveModel`; `is_saved` and `make_description` write nothing.
_WRITES = re.compile(r"(?:\A|_|(?<=[a-z])(?=[A-Z]))(?:[Ss]ave|[Ss]cript|[Tt]race|[Ee]xport)(?![a-z])")
_TRAINER = re.compile(r"train|runner|engine|agent", re.IGNORECASE)


class Write(NamedTuple):
    """Something that is saved: in which file, under which keys, and where its tensors are, each under conditions.

    `is_open`: a caller may tell more. `chain` are the calls that led to the site, the innermost first. `is_other`: something else than `torch.save`
    writes it, of which nothing is known.
    """

    site: Site
    path: Value
    keys: frozenset[str]
    held: tuple[tuple[Facts, Place], ...]
    facts: Facts
    chain: tuple[Site, ...]
    mode: str
    is_open: bool
    is_other: bool = False

    @property
    def entry(self) -> ir.Body | None:
        """The function that somebody from outside calls to come to the save."""
        return self.chain[-1].body if self.chain else self.site.body


class Read(NamedTuple):
    """Something that is loaded: from which file, and under which facts.

    `is_written`: the same run has written that file before, `is_here` in the same function, `on_host` from the CPU. `is_trained`: it has trained.
    """

    site: Site
    path: Value
    facts: Facts
    chain: tuple[Site, ...]
    mode: str
    is_trained: bool
    is_written: bool
    is_here: bool
    on_host: bool
    is_downloaded: bool

    @property
    def entry(self) -> ir.Body | None:
        """The function that somebody from outside calls to come to the load."""
        return self.chain[-1].body if self.chain else self.site.body


# ---------------------------------------------------------------------------------------------------- effects


def save(ctx: Context, value: Value, path: Value, site: Site | None) -> None:
    """`torch.save(value, path)`."""
    if site is None:
        return
    file = paths.file_of(ctx, path)
    keys, leaves = _snapshot(ctx, value, file)
    write(ctx, file, keys, leaves, site, content=value)


def write(
    ctx: Context,
    file: Value,
    keys: Value,
    leaves: Value,
    site: Site,
    inner: tuple[Site, ...] = (),
    content: Value = UNKNOWN,
) -> None:
    """What a save of `content` does, here or, behind the calls `inner`, for who calls the function that saves."""
    if keys == NONE:
        keys, leaves = _snapshot(ctx, leaves, file)
    held: list[tuple[Facts, Place]] = []
    for leaf in leaves.items if isinstance(leaves, Tup) else (UNKNOWN,):
        held += [
            (guards, one.device if isinstance(one, Tensor) else NOWHERE)
            for guards, one in options_of(leaf)
            if not isinstance(one, Const)
        ]
    named = [one.value for one in keys.items if isinstance(one, Const)] if isinstance(keys, Tup) else []
    known = frozenset(key for key in named if isinstance(key, str))
    chain = (*inner, *ctx.chain)
    made = Write(site, file, known, tuple(held), ctx.facts, chain, ctx.mode, waits(leaves))
    if not ctx.mute:
        ctx.analysis.heard.writes.append(made)
    is_on_host = all(place == HOST for _, place in held)
    for one in alternatives(file):
        if not chain:
            _put(ctx, ("here", one), TRUE)
        _put(ctx, ("file", _alike(one)), Term("unknown", site) if content is UNKNOWN else content)
        _put(ctx, ("on host", one), Const(is_on_host))
    _leave(ctx, Term("saved", file, keys, leaves, site, chain, content, *_frame(ctx)))


def load(ctx: Context, path: Value, site: Site | None) -> Value | None:
    """What this run has written to a file before; None where it has not."""
    file = paths.file_of(ctx, path)
    if site is not None:
        read(ctx, file, site)
    return found(ctx, file, site)


def waiting(ctx: Context, path: Value, where: Value, site: Site | None) -> Value | None:
    """What a load gives of which a caller may know what was saved there: it names the file. None for any other load."""
    file = paths.file_of(ctx, path)
    return Term("read", file, where, site, *_frame(ctx)) if ctx.mode == "summary" and waits(file) else None


def found(ctx: Context, file: Value, site: Site | None) -> Value | None:
    """What this run has written to a file, where that is known now; None where it has not."""
    if site is not None:
        ctx.put(Term("unknown", site), LOADED, file)
    rec = ctx.heap.get(FILES)
    # Files that a number tells apart were written by one line, and hold the like.
    is_told = paths.is_known(file) or (paths.is_literal(file) and all(one is not UNKNOWN for one in parts_of(file)))
    if rec is None or not is_told:
        return None
    known: Value | None = rec.fields.get(("file", _alike(file)))
    if known is not None:
        return known
    saved = [key[1] for key in rec.fields if isinstance(key, tuple) and key[0] == "file"]
    fitting = [rec.fields["file", one] for one in saved if _fits(file, one) or _fits(one, _alike(file))]
    return join(*fitting) if fitting else None


def _alike(file: Value) -> Value:
    """A path for all those of which a number tells one from another, whether it is counted or begins at nought."""
    if not isinstance(file, Text):
        return file
    return Text(file.name, tuple(NUMBER if _is_counted(part) else part for part in file.parts))


def _fits(file: Value, pattern: Value) -> bool:
    """True for a path that another one stands for, which has numbers in it: "{folder}/task0.pt" of "{folder}/task{number}.pt"."""
    values: list[Value] = []

    def written(path: Value, number: str, literal: Callable[[str], str]) -> str:
        found = ""
        for part in path.parts if isinstance(path, Text) else (path,):
            if isinstance(part, Const):
                found += literal(str(part.value))
            elif part == NUMBER:
                found += number
            else:
                values.extend([part] if part not in values else [])
                found += f"<{values.index(part)}>"
        return found

    if not isinstance(pattern, Text) or NUMBER not in pattern.parts:
        return False
    return re.fullmatch(written(pattern, r"\d+", re.escape), written(file, "0", str)) is not None


def _is_counted(part: Value) -> bool:
    several = alternatives(part)
    return NUMBER in several and all(one == NUMBER or isinstance(one, Const) for one in several)


class _Known(NamedTuple):
    """What a function knows of a file that it loads."""

    is_written: bool = False
    on_host: bool = False
    is_downloaded: bool = False


def read(
    ctx: Context,
    file: Value,
    site: Site,
    inner: tuple[Site, ...] = (),
    owner: Value = NONE,
    known: _Known | None = None,
) -> None:
    """What a load does, here or, behind the calls `inner`, for who calls the function that loads. `owner` is the object whose method it is."""
    if ctx.mute:
        return
    known = known or _Known()
    rec = ctx.heap.get(FILES)
    fields = rec.fields if rec is not None else {}
    is_written = known.is_written or all(
        paths.is_known(one) and ("file", _alike(one)) in fields for one in alternatives(file)
    )
    whole = [part for one in alternatives(file) for part in (one, *paths.parts_of_path(one))]
    is_downloaded = known.is_downloaded or any(("downloaded", part) in fields for part in whole if _is_variable(part))
    chain = (*inner, *ctx.chain)
    on_host = known.on_host or all(fields.get(("on host", one)) == TRUE for one in alternatives(file))
    is_here = all(("here", one) in fields for one in alternatives(file))
    body = ctx.body if ctx.mode == "summary" and not inner else None
    if body is not None and body.owner is not None and body.parameters:
        owner = Term("parameter", body, body.parameters[0].name)
    made = Read(
        site,
        file,
        ctx.facts,
        chain,
        ctx.mode,
        _is_behind_training(ctx, file, owner, site, chain),
        is_written,
        is_here,
        on_host,
        is_downloaded,
    )
    ctx.analysis.heard.reads.append(made)
    found = _Known(is_written, on_host, is_downloaded)
    _leave(ctx, Term("loaded", file, site, chain, owner, found, *_frame(ctx)))


def _is_variable(part: Value) -> bool:
    return not isinstance(part, Const)


def _is_behind_training(ctx: Context, file: Value, owner: Value, site: Site, chain: tuple[Site, ...]) -> bool:
    """True behind a training. Where an object trains, it writes the files that it keeps the paths of, and those that a function loads which is called.

    Where another object of the same class has trained, the file is not that of this one.
    """
    mine, fields = ctx.rec(owner), _fields(ctx, FILES)
    trainers = [key[1] for key in fields if isinstance(key, tuple) and key[0] == "trainer"]
    if _named(site, "argument") in trainers:
        return True
    if any(_is_made_of(one, trainer) for trainer in trainers for one in alternatives(file)):
        return True
    for term, _ in ctx.facts:
        if term.op != "trained":
            continue
        by = term.args[0]
        other = ctx.rec(by)
        if by == NONE:
            return True
        if chain and (mine is None or other is None or owner == by or mine.cls != other.cls):
            return True
    return False


def _named(site: Site | None, part: str) -> Value:
    """The variable whose attribute a call reads to be called, or to be given: "trainer" of `trainer.train()` and `load(trainer.best)`."""
    if site is None or site.body is None or not isinstance(site.op, ir.Call):
        return UNKNOWN
    lookup = Lookup.of(site.body)
    written: ir.Op | None = lookup.definition(site.op.function if part == "function" else site.op.argument("f", 0))
    held = lookup.definition(written.object) if isinstance(written, ir.Attribute) else None
    is_named = isinstance(held, ir.Load) and held.name != "self"
    return Term("variable", site.body, held.name) if is_named else Term("unknown", site)  # type: ignore[union-attr]


def _is_made_of(value: object, part: Value) -> bool:
    if value == part:
        return True
    inner = value.args if isinstance(value, Term) else value if isinstance(value, tuple) else parts_of(value)
    return any(_is_made_of(one, part) for one in inner)


def _put(ctx: Context, key: object, value: Value) -> None:
    rec = ctx.heap.get(FILES) or Rec("files")
    ctx.heap[FILES] = rec.put(key, value)


def _frame(ctx: Context) -> tuple[Value, ...]:
    """What makes an effect wait for each caller."""
    return (Term("parameter", ctx.body, "@frame"),) if ctx.body is not None else ()


def _leave(ctx: Context, effect: Term) -> None:
    """Leaves an effect to the callers."""
    if ctx.mode != "summary" or ctx.mute or effect is UNKNOWN:
        return
    if ctx.is_full:
        ctx.analysis.hit("events of a summary")
    else:
        ctx.events.append(Event(ctx.facts, effect))


@lru_cache(maxsize=4096)
def _downloads(name: str) -> bool:
    return DOWNLOADS.search(name) is not None


@lru_cache(maxsize=4096)
def _writes(name: str) -> bool:
    return _WRITES.search(name) is not None


def called(ctx: Context, function: Value, args: list[Value], site: Site | None) -> None:
    """What is known by its name of a call that nobody can look into: it trains, or downloads, or saves what is named."""
    name = paths.last_name(function)
    if name == "backward" or name == "fit" or (name == "train" and _is_trainer(function, site)):
        owner = _owner(function)
        trains(ctx, NONE if name == "backward" else owner, site)
    elif _downloads(name):
        for one in args:
            file = paths.file_of(ctx, one)
            for part in (file, *paths.parts_of_path(file)):
                _put(ctx, ("downloaded", part), TRUE)
    elif _writes(name) and function not in _SAVES:
        for one in args:  # whatever this is, it writes a file of this name
            file, rec = paths.file_of(ctx, one), ctx.heap.get(FILES)
            _put(ctx, ("here", file), TRUE)
            if site is not None and not ctx.mute and paths.file_names(file):
                nobody_knows = ((frozenset[Any](), NOWHERE),)
                other = Write(site, file, frozenset(), nobody_knows, ctx.facts, ctx.chain, ctx.mode, False, True)
                ctx.analysis.heard.writes.append(other)
            if rec is None or ("file", _alike(file)) not in rec.fields:
                _put(ctx, ("file", _alike(file)), UNKNOWN)


def _is_trainer(function: Value, site: Site | None) -> bool:
    """True for a method of what is called a trainer, or is kept under such a name."""
    return any(map(_TRAINER.search, (paths.last_name(_owner(function)), _receiver_at(site))))


def _owner(function: Value) -> Value:
    """The object whose method is called; None for a function."""
    if isinstance(function, Ext):
        return Ext(function.name.rpartition(".")[0])
    if isinstance(function, Bound):
        return function.object
    return function.args[0] if isinstance(function, Term) and function.op == "attribute" else NONE


def trains(ctx: Context, owner: Value, site: Site | None) -> None:
    """A training lies behind, on each path from here: what is loaded then, its own run has written. `owner` is the object whose method trains."""
    fact = frozenset({(Term("trained", owner), True)})
    ctx.trained |= fact
    ctx.facts |= fact
    if owner != NONE:
        _put(ctx, ("trainer", owner), TRUE)
        _put(ctx, ("trainer", _named(site, "function")), TRUE)


# ---------------------------------------------------------------------------------------------------- contents


def _snapshot(ctx: Context, value: Value, file: Value) -> tuple[Value, Value]:
    """The keys of what is saved, None where a caller may tell them, and the tensors in it."""
    several = alternatives(value)
    if len(several) == 1 and isinstance(several[0], Term) and several[0].waits:
        place = _placed(ctx, several[0], _MOST_NESTED)
        if place is None and RENEWED not in _fields(ctx, several[0]):
            return NONE, several[0]
    found: dict[Value, None] = {}
    _take(ctx, value, frozenset(), None, found, file, _MOST_NESTED)
    keys: list[Value] = []
    if len(several) == 1:
        rec = ctx.heap.get(several[0]) if isinstance(several[0], Ref) else None
        if rec is not None and rec.kind == "dict":
            keys += [Const(key[1]) for key in rec.fields if isinstance(key, tuple)][:_MOST_KEYS]
    leaves = tuple(found)
    if len(leaves) > _MOST_LEAVES:
        leaves = (*leaves[:_MOST_LEAVES], UNKNOWN)
    return Tup(tuple(keys)), Tup(leaves)


def _fields(ctx: Context, value: Value) -> dict[object, Value]:
    rec = ctx.heap.get(value) if isinstance(value, (Term, Ref)) else None
    return rec.fields if rec is not None else {}


def _take(
    ctx: Context, value: Value, guards: Facts, key: object, found: dict[Value, None], file: Value, deep: int
) -> None:
    """Adds the tensors in a value, each under its conditions; of what may hold some, a term, or UNKNOWN."""

    def add(leaf: Value) -> None:
        found[OneOf(((guards, leaf), (frozenset(), NONE))) if guards else leaf] = None

    for inner, one in options_of(value):
        both = guards | inner
        if both != guards:
            _take(ctx, one, both, key, found, file, deep)
        elif isinstance(one, Tensor):
            add(Tensor(one.device, None))
        elif isinstance(one, Tup):
            for item in one.items:
                _take(ctx, item, guards, key, found, file, deep - 1) if deep else add(UNKNOWN)
        elif isinstance(one, Ref):
            rec = ctx.heap.get(one)
            parts = _parts(ctx, rec) if rec is not None and deep else None
            if parts is None:
                add(UNKNOWN)
            for name, part in parts or ():
                _take(ctx, part, guards, name, found, file, deep - 1)
        elif isinstance(one, Term):
            renewed = _fields(ctx, one).get(RENEWED)
            place = _placed(ctx, one, _MOST_NESTED)
            if _fields(ctx, one).get(LOADED) == file and paths.is_known(file):
                continue  # it was read from there: what was saved before
            if renewed is not None and deep:
                _take(ctx, renewal(renewed), guards, key, found, file, deep - 1)
            elif place is not None:
                add(Tensor(place, None))
            elif not _is_plain(one, key):
                add(one if one.waits else UNKNOWN)
        elif isinstance(one, Ext):
            root, _, rest = one.name.partition(".")
            if key not in _COUNTERS and (
                root not in _HAVE_NO_TENSORS or (root == "builtins" and not hasattr(builtins, rest))
            ):
                add(UNKNOWN)
        elif isinstance(one, Bound) and one.name != "__dict__" and isinstance(one.object, (Ref, Term, Tensor)):
            add(UNKNOWN)


def _parts(ctx: Context, rec: Rec) -> list[tuple[object, Value]] | None:
    """What an object holds, with its keys; None where that is not known."""
    if rec.kind == "module":
        held = modules.held_by(ctx, rec)
        return list(held.items()) if held else [("", Tensor(rec.fields.get("@device", NOWHERE), None))]
    if rec.kind in ("dict", "list", "generator"):
        return [(key[1] if isinstance(key, tuple) else None, one) for key, one in rec.items.items()]
    if rec.kind == "object" and (rec.cls is None or isinstance(rec.cls, Cls)):
        return list(rec.attributes.items())
    return None


def _placed(ctx: Context, value: Value, deep: int) -> Place | None:
    """Where the tensors are that an open value is, or holds; None where nobody has moved it."""
    if not isinstance(value, Term) or not deep:
        return None
    for one in (value, Term("attribute", value, "module")):  # what a wrapper of several devices holds
        fields = _fields(ctx, one)
        place = fields.get("@device", fields.get(PLACED))
        if isinstance(place, (str, Term)) and all(there != UNMOVED for _, there in places_of(place)):
            return place
    if value.op == "moved":
        return value.args[1]  # type: ignore[no-any-return]
    if value.op in ("item", "element", "unpack") or (value.op == "attribute" and value.args[1] == "module"):
        return _placed(ctx, value.args[0], deep - 1)
    function = value.args[0] if value.op == "call" else None
    if isinstance(function, Term) and function.op == "attribute" and function.args[1] in _KEEPS_RECEIVER:
        return _placed(ctx, function.args[0], deep - 1)
    return None


def _is_plain(value: Value, key: object) -> bool:
    """True for a number, a text or settings, as far as its name tells: an epoch, `scheduler.state_dict()`, what `.item()` gave."""
    if isinstance(value, Const) or not isinstance(value, Term):
        return isinstance(value, Const)
    if is_option(value) or (value.op == "call" and paths.is_of_options(value)):
        return True
    if value.op == "binary":
        return all(_is_plain(one, None) or not isinstance(one, (Term, Tensor, OneOf)) for one in value.args[1:])
    name = paths.last_name(value)
    if key in _COUNTERS or name in _COUNTERS or name in _PLAIN:
        return True
    is_call = value.op == "call" or (value.op == "unknown" and value.args)
    if is_call and name == "state_dict":
        return bool(PLAIN_STATE.search(_receiver_name(value)))
    return bool(is_call and _TO_CPU.search(name))


def _receiver_name(call: Term) -> str:
    """The last name of what a method is called on."""
    if call.op == "call":
        function = call.args[0]
        return paths.last_name(function.args[0]) if isinstance(function, Term) and function.op == "attribute" else ""
    return _receiver_at(call.args[0])


def _receiver_at(site: Site | None) -> str:
    """The last name of what a method is called on, as it is written."""
    if not isinstance(site, Site) or site.body is None or not isinstance(site.op, ir.Call):
        return ""
    lookup = Lookup.of(site.body)
    method = lookup.definition(site.op.function)
    receiver = lookup.definition(method.object) if isinstance(method, ir.Attribute) else None
    return receiver.name if isinstance(receiver, (ir.Load, ir.Attribute)) else ""


def renews_all(site: Site | None) -> bool:
    """True for `state[key] = ...` in a loop over the keys or the items of `state`, and for `state[key] = state[key].to(device)` in one over the positions
    in a list, or over the items of something else: it has the same keys.
    """
    if site is None or site.body is None or not isinstance(site.op, ir.StoreSubscript):
        return False
    lookup = Lookup.of(site.body)
    target, key = lookup.path(site.op.object), lookup.definition(site.op.index)
    if not target or not isinstance(key, ir.Load):
        return False
    stores = lookup.stores(key.name)
    if any(_iterated(store.value, lookup) == target for store in stores):
        return True
    if any(_counts(store.value, lookup) for store in stores):
        return _is_of_item(site.op.value, target, key.name, lookup)
    made, method = lookup.definition(site.op.value), None
    if isinstance(made, ir.Call) and any(_iterated(store.value, lookup) for store in stores):
        method = lookup.definition(made.function)
    return isinstance(method, ir.Attribute) and _is_of_item(method.object, target, key.name, lookup, deep=0)


def _counts(register: ir.Register, lookup: Lookup) -> bool:
    """True for the variable of a loop over `range(count)`, whatever the count is: who goes through a list so knows how long it is."""
    turn = lookup.definition(register)
    counted = lookup.definition(turn.iterable) if isinstance(turn, ir.Iterate) else None
    if not isinstance(counted, ir.Call) or lookup.called(counted) != "range" or len(counted.arguments) != 1:
        return False
    return not isinstance(lookup.definition(counted.arguments[0].value), ir.Constant)


def _is_of_item(register: ir.Register, target: str, key: str, lookup: Lookup, deep: int = 4) -> bool:
    """True for what is made of `target[key]`: `target[key].to(device)`."""
    written = lookup.definition(register)
    if isinstance(written, ir.Subscript) and lookup.path(written.object) == target:
        index = lookup.definition(written.index)
        return isinstance(index, ir.Load) and index.name == key
    return (
        deep > 0
        and written is not None
        and any(_is_of_item(one, target, key, lookup, deep - 1) for one in reads(written))
    )


def _iterated(register: ir.Register, lookup: Lookup) -> str:
    """What a loop goes through, whose variable has a value: `state` in `state.items()`, `list(state)` and `range(len(state))`."""
    written: ir.Op | None = lookup.definition(register)
    if not isinstance(written, (ir.Unpack, ir.Iterate)):
        return ""
    while isinstance(written, (ir.Unpack, ir.Iterate)):
        register = written.source if isinstance(written, ir.Unpack) else written.iterable
        written = lookup.definition(register)
    while isinstance(written, ir.Call):
        method = lookup.definition(written.function)
        if not written.arguments and not isinstance(method, ir.Attribute):
            return ""
        register = written.arguments[0].value if written.arguments else method.object  # type: ignore[union-attr]
        written = lookup.definition(register)
    return lookup.path(register)
