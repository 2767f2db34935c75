"""What a file holds that a program loads: the join of what the project writes to it, with the load as its callers run it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import PurePath
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from torchdevlint.infer import callers, paths
from torchdevlint.infer.analysis import Analysis
from torchdevlint.infer.classes import defaults_of
from torchdevlint.infer.conditions import truth
from torchdevlint.infer.kept import Kept
from torchdevlint.infer.state import Facts
from torchdevlint.infer.stored import Read, Write
from torchdevlint.infer.summary import Heard, Summary
from torchdevlint.infer.units import Unit
from torchdevlint.infer.values import HOST, Const, Ext, Term, Text, Value, alternatives, text_of
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.source.grounds import kept_in

_SAVES = re.compile(
    rb"\b(?:torch|serialization|fabric|accelerator)\.save *\(|dcp_to_torch_save|(?m:^[ \t]*from torch(?:\.serialization)? import .*\bsave\b)"
)
# Other ways to save than `torch.save`, as bytes: a file must hold one of the first, and match.
_OTHER_HINTS = (b"save_", b"Trainer", b"ModelCheckpoint", b"lightning", b".save", b"safetensors")
_OTHER_WAYS = re.compile(
    rb"save_pretrained|Trainer\b|ModelCheckpoint|lightning|save_file\b|safetensors|\b(?:xm|accelerator|fabric)\.save"
)
MOST_SAVING = 24  # files of a project that save


class Stored(NamedTuple):
    """What the files of a project write. `is_whole`: nothing is saved in a way that was not looked into."""

    writes: tuple[Write, ...]
    is_whole: bool


_KNOWN: WeakKeyDictionary[Kept, dict[Any, Any]] = WeakKeyDictionary()


def stored_by(analysis: Analysis) -> Stored:
    """What the project of a file writes, once for all of its files; what the file writes, where it stands alone."""
    kept, files = analysis.kept, analysis.kept.imports.files
    of = (files, analysis.unit.program.revision)
    known = _KNOWN.setdefault(kept, {})
    if of not in known:
        known.clear()  # what an older revision wrote
    return kept_in(known, of, lambda: _stored_by(analysis))


def _stored_by(analysis: Analysis) -> Stored:
    files = analysis.kept.imports.files
    if files is None:
        return Stored(tuple(writes_of(analysis)), True)
    saving = [path for path in files.holding((b"torch",), _SAVES) if not files.is_test(path)]
    if len(saving) > MOST_SAVING:
        return Stored((), False)
    found: list[Write] = []
    for path in saving:
        if path == analysis.unit.path:
            found += writes_of(analysis)
        elif analysis.kept.imports.unit(path) is not None:
            found += writes_of(analysis.kept.analysis(path))
    return Stored(tuple(found), not any(True for _ in files.holding(_OTHER_HINTS, _OTHER_WAYS)))


def writes_of(analysis: Analysis) -> list[Write]:
    """What a file saves, as its callers run it."""
    alone = _asked_alone(analysis, "save")
    calling = callers.of(analysis, partial(_with_effect, op="saved", at=3))
    told = [*alone, *(heard for other in (analysis, *calling) for heard in other.heard_all())]
    found = [one for heard in told for one in heard.writes]
    found = [one for one in found if one.site.unit is analysis.unit]
    in_other_ways = [one for one in found if one.is_other]
    return in_other_ways + list(_as_called([one for one in found if not one.is_other], (analysis, *calling)))


class Loads:
    """The loads of a file, by their operations: as the file and its callers run them."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        told = [*_asked_alone(analysis, "load"), *analysis.heard_all()]
        self._own = _by_op([one for heard in told for one in heard.reads], analysis.unit)
        self._memory: dict[Any, Any] = {}

    def alone(self, load: ir.Op) -> list[Read]:
        """A load as its own function runs it."""
        return [one for one in self._own.get(load, ()) if not one.chain and one.mode != "root"]

    def of(self, load: ir.Op) -> list[Read]:
        """A load as those run it who call the function that loads; none where control cannot come to it, or nobody knows how."""
        return kept_in(self._memory, "as called", self._as_called).get(load, [])

    def _as_called(self) -> dict[ir.Op, list[Read]]:
        loading = partial(_with_effect, op="loaded", at=1)
        calling = callers.of(self.analysis, loading) if self._own else []
        found = [one for several in self._own.values() for one in several]
        found += [one for other in calling for heard in other.heard_all() for one in heard.reads]
        return _by_op(list(_as_called(found, (self.analysis, *calling))), self.analysis.unit)

    def is_called(self, load: ir.Op) -> bool:
        """True for a load in a function that its file calls."""
        return any(one.site.body in self.analysis.calls for one in self._own.get(load, ()))


def _by_op(reads: list[Read], unit: Unit) -> dict[ir.Op, list[Read]]:
    found: dict[ir.Op, list[Read]] = {}
    for one in reads:
        if one.site.unit is unit:
            found.setdefault(one.site.op, []).append(one)
    return found


def _asked_alone(analysis: Analysis, name: str) -> list[Heard]:
    """What functions tell that nobody calls, and that read an attribute of this name."""
    reached = analysis.summaries_reached()
    alone = [body for body in analysis.unit.program.bodies if body.kind == "function" and body not in reached]
    summaries = [analysis.summary(body) for body in alone if Lookup.of(body).has_attribute(name)]
    return [summary.heard for summary in summaries if summary is not None]


def _with_effect(analysis: Analysis, unit: Unit, op: str, at: int) -> list[str]:
    """What a caller writes to reach a save or a load of `unit`."""
    found: dict[str, None] = {}
    for body, summary in analysis.summaries_reached().items():
        if _has_effect(summary, unit, op, at):
            found[callers.called_as(body)] = None
    return list(found)


def _has_effect(summary: Summary, unit: Unit, op: str, at: int) -> bool:
    effects = (event.what for event in summary.events if isinstance(event.what, Term) and event.what.op == op)
    return any(effect.args[at].unit is unit for effect in effects)


_Effect = TypeVar("_Effect", Read, Write)


def _as_called(found: list[_Effect], asked: Sequence[Analysis]) -> Iterator[_Effect]:
    """The effects as somebody runs them. Where others call a function, what it does for anybody else does not count."""
    called = {body for analysis in asked for body in analysis.calls}
    by_site: dict[object, list[_Effect]] = {}
    for one in found:
        by_site.setdefault(one.site, []).append(one)
    for several in by_site.values():
        run = [one for one in several if one.mode != "summary"]
        outermost = [one for one in run if one.mode == "module" or one.entry not in called]
        is_known = any(one.site.body in called for one in several) and not _may_be_missed(several, asked)
        yield from dict.fromkeys(outermost or ([] if is_known else run or several))


def _may_be_missed(effects: Sequence[Read | Write], asked: Sequence[Analysis]) -> bool:
    """True where calls were not followed to their end, and for a function that calls itself, maybe alone."""
    if any(analysis.bounds for analysis in asked):
        return True
    summaries = (asked[0].kept.summaries.get(one.entry) for one in effects if one.entry is not None)
    return any(found is not None and (len(found.cycle) > 1 or found.cycle & found.heard.called) for found in summaries)


# ---------------------------------------------------------------------------------------------------- the answer


def holding(analysis: Analysis, reads: list[Read], keys: frozenset[str]) -> tuple[Write, ...] | None:
    """The writes that made what is loaded, from which `keys` are read; None where nobody knows who has written it.

    Those who write it are known by the keys, by the literal name of the file (where the load's own folder has such, by those), or by the path; else
    it is the file that loads, where that saves, or any of the project, if nothing is saved in another way.
    """
    writes, is_whole = stored_by(analysis)
    names = frozenset(name for one in reads for path in may_be(one) for name in paths.file_names(path))
    named = [one for one in writes if names and not names.isdisjoint(_names(one.path))]
    if any(one.is_other for one in named):
        return tuple(named)  # whatever the others hold
    for paired in (
        [one for one in writes if keys and keys <= one.keys],
        _nearest(named, analysis.unit),
        [one for one in writes if any(_is_same(one, read) for read in reads)],
        _own(analysis, writes, names),
    ):
        if paired:
            return tuple(paired)
    saved = tuple(one for one in writes if not one.is_other)
    return saved if is_whole and saved else None


def is_on_host(write: Write) -> bool:
    """True where all that is saved is on the CPU, or no tensor, unless a caller changes a parameter's default."""
    if not _is_by_default(write.facts, write):
        return True
    return all(place == HOST for guards, place in write.held if _is_by_default(guards, write))


def _is_by_default(facts: Facts, write: Write) -> bool:
    """False for conditions that do not hold where nobody gives a parameter of the function that is called."""
    for term, outcome in facts:
        if term.op == "parameter" and term.args[0] is write.entry:
            default = default_of(term)
            if default is not None and truth(default) is not outcome:
                return False
    return True


def default_of(parameter: Term) -> Value | None:
    """The constant default of a parameter."""
    body, name = parameter.args
    found = dict(defaults_of(body)).get(name)
    return found if isinstance(found, Const) else None


def may_be(read: Read) -> list[Value]:
    """The paths that a load may read, with the defaults of what nobody gives; a load without a path reads nothing."""
    found = [_with_defaults(one) for one in alternatives(read.path)]
    return [one for one in found if not (isinstance(one, Const) and not one.value)]


def _with_defaults(path: Value) -> Value:
    if isinstance(path, Text):
        return text_of(*(_with_defaults(part) for part in path.parts))
    if isinstance(path, Term) and path.op == "parameter" and not path.args[1].startswith("@"):
        default = default_of(path)
        return default if isinstance(default, Const) and default.value else path
    return path


def _names(path: Value) -> frozenset[str]:
    return frozenset(name for one in alternatives(path) for name in paths.file_names(_with_defaults(one)))


def _nearest(writes: list[Write], unit: Unit) -> list[Write]:
    """The writes in the folder of a file, where there are such: programs that stand together write and read the same files."""
    folder = PurePath(unit.path).parent
    return [one for one in writes if PurePath(one.site.unit.path).parent == folder] or writes


def _own(analysis: Analysis, writes: tuple[Write, ...], names: frozenset[str]) -> list[Write]:
    """The writes of the file that loads, but for those to files of other names."""
    own = [one for one in writes if one.site.unit is analysis.unit] or writes_of(analysis)
    return [one for one in own if not (names and _names(one.path)) and not one.is_other]


def _is_same(write: Write, read: Read) -> bool:
    """True for one path, also one that two functions of a file put together of the same literals and the same variables."""
    for path in may_be(read):
        for other in alternatives(write.path):
            if not paths.is_known(path):
                continue
            if path == other and (paths.is_literal(path) or not isinstance(path, (Term, Ext))):
                return True
            if write.site.unit is read.site.unit and paths.is_literal(path) and _spelled(path) == _spelled(other):
                return True
    return False


def _spelled(path: Value) -> list[str]:
    return [
        str(part.value) if isinstance(part, Const) else "\0" + paths.last_name(part)
        for part in paths.parts_of_path(path)
    ]
