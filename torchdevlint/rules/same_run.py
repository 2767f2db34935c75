"""Files that the same run has written before it loads them: what was saved there is still where it was."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from torchdevlint.flow.facts import Facts
from torchdevlint.flow.knowledge.functions import SAVES
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.project import Member
from torchdevlint.rules.callers import Site, calls_of
from torchdevlint.rules.neighbours import facts_of
from torchdevlint.rules.order import block_of, follows, leads_through
from torchdevlint.rules.paths import last_name, parts, spelling
from torchdevlint.rules.structure import calls_by_name

# Words of programs of several processes, of which one saves and each loads.
_PROCESSES = ("init_process_group", "DistributedDataParallel", "DDP", "local_rank", "Accelerator")
_TEMPORARY = frozenset({"TemporaryDirectory", "NamedTemporaryFile", "TemporaryFile", "mkdtemp", "mkstemp"})
_FIXTURES = frozenset({"tmp_path", "tmpdir", "tmp_path_factory", "tmpdir_factory"})  # pytest's
_TRAINER = re.compile(r"train|runner|engine|agent", re.IGNORECASE)
_TRAINING = re.compile(r"(?:\A|_)(?:train|fit)(?:_|\Z)")
_CALLS_DEEP = 2  # a loop over epochs calls the function that goes through one


def is_of_this_run(call: ir.Call, facts: Facts) -> bool:
    """True for a load of a file that this very run has written: the file is that of a training that lies behind, or stands in a temporary folder."""
    return (
        _ends_training(call, facts)
        or _is_given_by_training(call, facts)
        or _is_kept_by_trainer(call, facts)
        or _is_saved_before(call, facts)
        or is_temporary(call.argument("f", 0), facts)
        or _is_called_behind_training(facts)
    )


def is_temporary(path: ir.Register | None, facts: Facts) -> bool:
    """True for a path below a temporary folder that this function has made, or that pytest gave it."""
    return path is not None and _is_temporary(path, facts, frozenset())


def _is_temporary(path: ir.Register, facts: Facts, seen: frozenset[str]) -> bool:
    definitions = facts.analysis.index_of(facts.body).definitions
    for op, body in parts(path, facts):
        if isinstance(op, ir.Call) and last_name(op, body, facts) in _TEMPORARY:
            return True
        if isinstance(op, ir.Load) and op.name in _FIXTURES:
            return True
        if isinstance(op, ir.Load) and op.name not in seen and body is facts.body:
            sources = [_source(definitions[value], definitions) for value in facts.index.bound_to(op.name)]
            if any(s is not None and _is_temporary(s, facts, seen | {op.name}) for s in sources):
                return True
    return False


def _source(written: ir.Op | None, definitions: list[ir.Op | None]) -> ir.Register | None:
    """What a loop goes through, a `with` enters or an assignment takes apart; None for any other value."""
    if isinstance(written, ir.Unpack):
        inner = _source(definitions[written.source], definitions)
        return written.source if inner is None else inner
    if isinstance(written, ir.Iterate):
        return written.iterable
    return written.manager if isinstance(written, ir.Enter) else None


def _is_given_by_training(call: ir.Call, facts: Facts) -> bool:
    """True for the path that a function gave which trains: `path = self._train(...)`."""
    return any(
        isinstance(op, ir.Call) and _TRAINING.search(last_name(op, body, facts))
        for op, body in parts(call.argument("f", 0), facts)
    )


def _is_kept_by_trainer(call: ir.Call, facts: Facts) -> bool:
    """True for a path that an object keeps which trained in the same function before: `trainer.train(epochs); torch.load(trainer.best_path)`."""
    index = facts.analysis.index_of(facts.body)
    kept = {
        index.dotted(op.dst).partition(".")[0]
        for op, body in parts(call.argument("f", 0), facts)
        if isinstance(op, ir.Attribute) and body is facts.body
    } - {"self", ""}
    runs = {f"{name}.fit" for name in kept} | {f"{name}.train" for name in kept if _TRAINER.search(name)}
    return bool(runs) and _is_behind(
        call, facts.body, (op for op in Lookup.of(facts.body).kind(ir.Call) if index.dotted(op.function) in runs)
    )


def _ends_training(call: ir.Call, facts: Facts) -> bool:
    """True behind the training loop of the same function, or one that calls a function of the file and that every way to the load passes: what is loaded
    there is the best checkpoint that this very run has written.
    """
    body, place = facts.body, block_of(facts.body, call)
    if _is_behind(call, body, Lookup.of(body).attributes("backward")):
        return True
    return place is not None and any(
        leads_through(body, body.blocks[block.loops[0]], place)
        for block in body.blocks
        if block.loops and block is not place
        for op in block.ops
        if isinstance(op, ir.Call) and _trains_here(op, facts)
    )


def _trains_here(call: ir.Call, facts: Facts) -> bool:
    """True for a call of a function of the file, by its plain name, that calls `backward`."""
    name = facts.index.dotted(call.function)
    return any(
        body.name == name and body.owner is None and Lookup.of(body).has_attribute("backward")
        for body in facts.program.bodies
        if body is not facts.body
    )


def _is_called_behind_training(facts: Facts) -> bool:
    """True in a function that is called behind training alone: `fit(net); restore_best(net)`."""
    sites = list(calls_of(facts.body, facts))
    return bool(sites) and all(
        not site.facts.mentions(*_PROCESSES)
        and _is_behind(
            site.call,
            site.body,
            chain(
                Lookup.of(site.body).attributes("backward"),
                (
                    op
                    for op in Lookup.of(site.body).kind(ir.Call)
                    if _trains(op, site.body, site.facts, _CALLS_DEEP) or _trains_same_object(op, site, facts)
                ),
            ),
        )
        for site in sites
    )


def _trains_same_object(call: ir.Call, site: Site, facts: Facts) -> bool:
    """True for `exp.train(setting)` beside `exp.predict(setting)`, where the class that defines `predict` trains in `train`."""
    index = site.facts.analysis.index_of(site.body)
    owner, _, name = index.dotted(call.function).rpartition(".")
    if facts.body.owner is None or not owner or owner != index.dotted(site.call.function).rpartition(".")[0]:
        return False
    method = facts.body.owner.methods.get(name)
    return method is not None and method is not facts.body and _goes_backward(method, facts, _CALLS_DEEP)


def _is_saved_before(call: ir.Call, facts: Facts) -> bool:
    """True where the same function has saved to the same file before, in a program of one process."""
    place = file_place(call.argument("f", 0), facts, facts.block)
    return (
        bool(place)
        and not facts.mentions(*_PROCESSES)
        and _is_behind(
            call,
            facts.body,
            (op for op in _saves(facts) if file_place(op.argument("f", 1), facts, block_of(facts.body, op)) == place),
        )
    )


def _saves(facts: Facts) -> Iterator[ir.Call]:
    """The calls of this body that save a file."""
    calls = calls_by_name(facts.body, facts)
    return (call for name in SAVES for call in calls.get(name, ()))


def file_place(path: ir.Register | None, facts: Facts, block: ir.Block | None) -> str:
    """The spelling of a path, or a literal; also within `str(path)`, `path.as_posix()` and `open(path)`, be it by the name that `with` gave it."""
    written = facts.definition(path)
    if isinstance(written, ir.Load) and block is not None:
        entered = _entered(written.name, facts, block)
        written = written if entered is None else entered
    if isinstance(written, ir.Call):
        method = facts.definition(written.function)
        if isinstance(method, ir.Attribute) and method.name in ("as_posix", "open"):
            return facts.place(method.object)
        if isinstance(method, ir.Load) and method.name in ("str", "open") and written.arguments:
            return file_place(written.positional(0), facts, None)
    constant = facts.constant(path)
    return facts.place(path) or (constant if isinstance(constant, str) else spelling(path, facts.body, facts))


def _entered(name: str, facts: Facts, block: ir.Block) -> ir.Op | None:
    """The `open(path)` of a `with open(path) as name:` around a block."""
    for store in Lookup.of(facts.body).stores(name):
        enter = facts.definition(store.value)
        if isinstance(enter, ir.Enter) and enter.manager in block.withs:
            return facts.definition(enter.manager)
    return None


def _is_behind(call: ir.Call, body: ir.Body, wanted: Iterable[ir.Op]) -> bool:
    """True where control can come to the call from one of some operations of the body."""
    place = block_of(body, call)
    return place is not None and any(
        op is not call and (block := Lookup.of(body).block(op)) and follows(body, (block, op), (place, call))
        for op in wanted
    )


def _trains(call: ir.Call, body: ir.Body, facts: Facts, depth: int) -> bool:
    """True for `trainer.fit(...)`, and for a function of the file, or of another one of the project, that calls `backward`."""
    owner, _, name = facts.analysis.index_of(body).dotted(call.function).rpartition(".")
    if name == "fit" or (name == "train" and _TRAINER.search(owner.rpartition(".")[2])):
        return True
    if not name or depth == 0:
        return False
    if owner in ("", "self"):
        here = (
            other
            for other in facts.program.bodies
            if other.name == name and other is not body and (other.owner is not None) == (owner == "self")
        )
        if any(_goes_backward(other, facts, depth - 1) for other in here):
            return True
    return any(
        other.name == name and other.owner is None and _goes_backward(other, there, depth - 1)
        for there in _imported(f"{owner}.{name}" if owner else name, facts)
        for other in there.program.bodies
    )


def _goes_backward(body: ir.Body, facts: Facts, depth: int) -> bool:
    lookup = Lookup.of(body)
    return body.kind == "function" and (
        lookup.has_attribute("backward") or any(_trains(op, body, facts, depth) for op in lookup.kind(ir.Call))
    )


def _imported(dotted: str, facts: Facts) -> list[Facts]:
    """The files of the project that an imported name leads to."""
    member = facts.analysis.member
    if member is None or dotted.partition(".")[0] not in facts.analysis.aliases:
        return []
    paths = member.project.resolve(facts.analysis.resolve_text(dotted), member.path)
    return [there for path in paths if (there := facts_of(Member(member.project, path))) is not None]
