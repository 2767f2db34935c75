"""What a name means where an edit puts it: bound on every path, not shadowed, and of the kind that the edit needs.

Every fix passes `Scope.judge` on its way to the text, whichever rule and builder made it. A name that an edit brings to a place where
it was not read before must be bound there on every path (`program.cfg`), must mean what it means everywhere else in the file, and must
hold a device where the edit uses it as one. What is known to be otherwise is refused; what is not known is never safe.
"""

from __future__ import annotations

import builtins
import enum
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import libcst as cst

from torchdevlint.facts.analysis import FileFacts
from torchdevlint.facts.frame import Frame
from torchdevlint.facts.naming import follows_an_object, looks_like_device, names_index
from torchdevlint.facts.proof import is_contradicted, is_proven_tensor, is_used_as_container
from torchdevlint.facts.scopes import binds, default_of, parameter_of, scopes_of
from torchdevlint.facts.values import UNKNOWN, Kind, Value
from torchdevlint.fixes.builders import Edits, NodeEdit
from torchdevlint.fixes.tree import children, parents_in, walk
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup
from torchdevlint.stubs.knowledge.modules import LEAF_MODULES_WITH_WEIGHTS

_Answer = TypeVar("_Answer")


class Verdict(enum.IntEnum):
    """How an edit fits its place; of several, the least counts."""

    REFUSED = 0  # a name is unbound on some path, shadowed, or of a kind that raises
    DOUBTFUL = 1  # bound, and nothing tells that it is of the kind that the edit needs
    FITS = 2


class Point(NamedTuple):
    """In front of an operation of a body, or behind it."""

    body: ir.Body
    op: ir.Op
    behind: bool = False


class Meaning(NamedTuple):
    """What a name means at a point: where it is bound, and everything that it may hold there."""

    owner: ir.Body | None  # None for a builtin
    values: tuple[Value, ...]
    imported: str = ""  # the dotted name of an imported thing

    @property
    def is_builtin(self) -> bool:
        """True for a name of Python's own that nothing in the file binds."""
        return self.owner is None


# What a value in a device position may be, and what raises there (torch/csrc/utils/python_arg_parser.cpp, `toDevice`).
_DEVICES = frozenset({Kind.DEVICE})
_NO_DEVICES = frozenset(
    {
        Kind.MODULE,
        Kind.OPTIMIZER,
        Kind.PARAMETERS,
        Kind.STATE_DICT,
        Kind.BATCH_ENCODING,
        Kind.BATCH,
        Kind.LOADER,
        Kind.TOKENIZER,
        Kind.CHECKPOINT,
        Kind.NDARRAY,
        Kind.GENERATOR,
        Kind.SIZE,
        Kind.TUPLE,
        Kind.LIST,
        Kind.DICT,
        Kind.FUNCTION,
        Kind.CLASS,
        Kind.INSTANCE,
    }
)
_WITHOUT_DEVICE = frozenset(_NO_DEVICES - {Kind.MODULE, Kind.INSTANCE, Kind.BATCH, Kind.BATCH_ENCODING, Kind.CLASS}) | {
    Kind.STRING,
    Kind.SCALAR,
    Kind.NONE,
    Kind.DEVICE,
}
_DEVICE_KEYWORDS = frozenset({"device", "map_location"})
_BUILTINS = frozenset(dir(builtins))


class Scope:
    """The names of one analysed file. The operations of its Program have LibCST's nodes."""

    def __init__(self, analysis: FileFacts) -> None:
        self._analysis = analysis
        self._program = analysis.program
        self._parents = parents_in(self._program.node)
        self._ops: dict[int, Point] = {}
        for body in self._program.bodies:
            for op in Lookup.of(body).all:
                self._ops.setdefault(id(op.node), Point(body, op))
        self._global_names = frozenset(name for body in self._program.bodies for name in body.global_names)
        self._answers: dict[Any, Any] = {}

    def _once(self, question: Callable[..., _Answer], *given: Any) -> _Answer:
        """The answer to a question about the file, which is remembered: many edits ask the same."""
        key = (question.__name__, *(id(item) if isinstance(item, ir.Body) else item for item in given))
        if key not in self._answers:
            self._answers[key] = question(*given)
        answer: _Answer = self._answers[key]
        return answer

    # ------------------------------------------------------------------------------------------------ edits

    def judge(self, edits: Edits, proven: frozenset[str] = frozenset()) -> Verdict:
        """How edits that belong together fit the places where they go; `proven` are expressions that are known to be devices."""
        added = {name for edit in edits for name in _imports_of(edit)}
        return min((self._judge(edit, edits, added, proven) for edit in edits), default=Verdict.FITS)

    def _judge(self, edit: NodeEdit, edits: Edits, added: set[str], proven: frozenset[str]) -> Verdict:
        new = _parsed(edit)
        if new is None or edit.kind == "remove-statement":
            return Verdict.FITS
        old = set() if edit.kind != "replace" else {node.value for node in _loads(edit.target)}
        bound = {name for node in walk(new) for name in _bound_by(node)} | added
        names = {node.value for node in _loads(new)} - old - bound
        devices = [node for node in _device_positions(new, edit, self._parents) if not _is_within(node, edit.target)]
        receiver = self._receiver(edit.target) if _calls_method_of(new, edit.target) else Verdict.FITS
        if not names and not devices:
            return receiver
        point = self._point(edit)
        if point is None:
            return Verdict.DOUBTFUL
        if any(not self._means(name, point, edit.target) for name in names):
            return Verdict.REFUSED
        moved = next((other for other in edits if other is not edit and _is_moved(other, new)), None)
        if moved is not None and not self._may_move(moved, names, point):
            return Verdict.REFUSED
        unknown = (node for node in devices if _code(node) not in proven)
        return min((receiver, *(self.device(node, point, edit.target) for node in unknown)))

    def _receiver(self, node: cst.CSTNode) -> Verdict:
        """How a value fits of which an edit calls `.cpu()`, `.to(...)` and their like: a part of what a model of unknown class gives may be anything."""
        point = self._ops.get(id(node))
        if point is None or not isinstance(point.op, ir.Load):
            return Verdict.FITS
        frame = self._frame(point.body)
        for store in Cfg.of(point.body).bindings(point.op.name, point.op).stores:
            unpacked = frame.definitions[store.value]
            call = frame.definitions[unpacked.source] if isinstance(unpacked, ir.Unpack) else None
            called = frame.values[call.function] if isinstance(call, ir.Call) else UNKNOWN
            if called.kind is Kind.MODULE and not called.symbol.startswith("torch.nn."):
                return Verdict.DOUBTFUL
        return Verdict.FITS

    def _point(self, edit: NodeEdit) -> Point | None:
        """Where the new code of an edit is evaluated."""
        if edit.kind != "insert-after":
            return self.point_at(edit.target)
        parent = self._parents.get(edit.target)
        siblings = list(getattr(parent, "body", ()))
        at = next((number for number, node in enumerate(siblings) if node is edit.target), None)
        following = siblings[at + 1 :] if at is not None else []
        before = next((point for node in following if (point := self.point_at(node)) is not None), None)
        if before is not None:
            return before
        points = [point for node in walk(edit.target) if (point := self._ops.get(id(node))) is not None]
        outer = min((len(point.body.qualname), number) for number, point in enumerate(points)) if points else None
        if outer is None:
            return None
        last = [point for point in points if point.body is points[outer[1]].body][-1]
        return last._replace(behind=True)

    def point_at(self, node: cst.CSTNode) -> Point | None:
        """In front of the first operation of a node; of the nearest one around it where it has none."""
        around: cst.CSTNode | None = node
        while around is not None:
            found = [point for part in walk(around) if (point := self._ops.get(id(part))) is not None]
            if found:
                outermost = _outermost(point.body for point in found)
                within = [point for point in found if point.body is outermost]
                cfg = Cfg.of(outermost)
                return min(within, key=lambda point: cfg.position(point.op) or (0, 0))
            around = self._parents.get(around)
        return None

    def _may_move(self, moved: NodeEdit, names: Iterable[str], point: Point) -> bool:
        """True where a statement means the same at its new place: nothing binds anew what it reads."""
        old = self.point_at(moved.target)
        if old is None or old.body is not point.body:
            return False
        cfg = Cfg.of(point.body)
        return all(
            set(map(id, cfg.bindings(name, old.op).stores)) == set(map(id, cfg.bindings(name, point.op).stores))
            for name in names
        )

    # ------------------------------------------------------------------------------------------------ names

    def _means(self, name: str, point: Point, node: cst.CSTNode) -> bool:
        """True for a name that is bound at a point and, where the file imports it, is that import."""
        meaning = self.meaning(name, point, node)
        imported = self._analysis.aliases.get(name)
        return meaning is not None and (imported is None or meaning.imported == self._analysis.symbol(imported).symbol)

    def meaning(self, name: str, point: Point, node: cst.CSTNode | None = None) -> Meaning | None:
        """What a name means at a point; None where some path leaves it unbound. `node` tells the comprehensions around the place."""
        body, op, behind = point
        own = self._of_comprehension(name, node) if node is not None else None
        if own is not None:
            return Meaning(body, self._held(own, point))
        cfg = Cfg.of(body)
        is_bound = cfg.bound_behind(name, op) if behind else cfg.definitely_bound(name, op)
        if binds(body, name):
            return self._told(name, body, self._held(name, point)) if is_bound else None
        return self._outside(name, body, is_bound)

    def _outside(self, name: str, body: ir.Body, is_read: bool) -> Meaning | None:
        """A name that the body does not bind: of the enclosing functions, the module, or Python's own. `is_read`: every path has read it."""
        module = self._program.module
        inner, outer = body, body.parent
        while outer is not None and outer is not module and name not in body.global_names:
            if outer.kind != "class" and binds(outer, name):
                at = self._maker(inner, outer)
                if not is_read and (at is None or not Cfg.of(outer).definitely_bound(name, at)):
                    return None
                return self._told(name, outer, self._once(self._all_held, name, outer))
            if outer.kind != "class":
                inner = outer
            outer = outer.parent
        if body is not module and self._is_of_module(name):
            return (
                self._told(name, module, self._once(self._all_held, name, module))
                if is_read or self._once(self._is_ready, name, body)
                else None
            )
        if body is not module and name in self._global_names:
            return Meaning(module, (UNKNOWN,)) if is_read else None
        if name in _BUILTINS and not self._is_of_module(name):
            return Meaning(None, ())
        return Meaning(module, (UNKNOWN,)) if is_read else None  # a star import binds it

    def _is_of_module(self, name: str) -> bool:
        return name in self._program.module.local_names

    def _is_ready(self, name: str, body: ir.Body) -> bool:
        """True where the module has bound a name before it can call the function `body`."""
        module = self._program.module
        cfg = Cfg.of(module)
        top, runs_at_once = body, body.kind == "class"
        while top.parent is not None and top.parent is not module:
            top = top.parent
            runs_at_once = runs_at_once and top.kind == "class"
        made = self._maker(top, module)
        deleted = any(op.name == name for op in Lookup.of(module).kind(ir.Delete))
        if made is not None and cfg.definitely_bound(name, made) and not deleted:
            return True
        if runs_at_once or not cfg.bound_at_end(name):
            return False  # a class body runs where it stands
        # The module may call the function before the name is bound.
        called = top.owner.name if top.kind == "class" and top.owner is not None else top.name
        return all(cfg.definitely_bound(name, op) for op in Lookup.of(module).loads(called))

    def _maker(self, inner: ir.Body, outer: ir.Body) -> ir.Op | None:
        """The operation of `outer` that makes the function or class whose body is (or holds) `inner`."""
        while inner.parent is not None and inner.parent is not outer:
            inner = inner.parent
        return self._once(self._makers, outer).get(id(inner))

    @staticmethod
    def _makers(outer: ir.Body) -> dict[int, ir.Op]:
        """The operations of a body that make functions and classes, by the bodies of these."""
        made: dict[int, ir.Op] = {id(op.function): op for op in Lookup.of(outer).kind(ir.MakeFunction)}
        return made | {id(op.cls.body): op for op in Lookup.of(outer).kind(ir.MakeClass)}

    def _of_comprehension(self, name: str, node: cst.CSTNode | None) -> str | None:
        """The Program's spelling (`name@N`) of a name that a comprehension around the node binds."""
        while node is not None and not isinstance(node, (cst.BaseCompoundStatement, cst.BaseSmallStatement)):
            if isinstance(node, (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)):
                clause: cst.CompFor | None = node.for_in
                while clause is not None:
                    for part in walk(clause.target):
                        point = self._ops.get(id(part))
                        if isinstance(part, cst.Name) and part.value == name and point is not None:
                            store = point.op
                            return store.name if isinstance(store, ir.Store) else name
                    clause = clause.inner_for_in
            node = self._parents.get(node)
        return None

    def _told(self, name: str, owner: ir.Body, held: tuple[Value, ...]) -> Meaning:
        symbols = {value.symbol for value in held if value.kind is Kind.SYMBOL}
        imported = next(iter(symbols)) if len(symbols) == 1 and len(held) == 1 else ""
        return Meaning(owner, held, imported)

    # ------------------------------------------------------------------------------------------------ values

    def _frame(self, body: ir.Body) -> Frame:
        return self._analysis.frame_of(body)

    def _held(self, name: str, point: Point) -> tuple[Value, ...]:
        """What a local name may hold at a point."""
        frame = self._frame(point.body)
        found = Cfg.of(point.body).bindings(name, point.op)
        held = [frame.values[store.value] for store in found.stores]
        if found.parameter is not None:
            held.append(frame.of_parameter(name))
        return tuple(held) or (UNKNOWN,)

    def _all_held(self, name: str, owner: ir.Body) -> tuple[Value, ...]:
        """What a name of an enclosing body may hold at any time."""
        frame = self._frame(owner)
        held = [frame.values[op.value] for op in Lookup.of(owner).stores(name)]
        if parameter_of(owner, name) is not None:
            held.append(frame.of_parameter(name))
        if owner.kind == "module" and name in self._global_names:
            held.append(UNKNOWN)
        return tuple(held) or (UNKNOWN,)

    def device(self, node: cst.BaseExpression, point: Point, place: cst.CSTNode | None = None) -> Verdict:
        """How an expression fits where a device is wanted. Its names are bound."""
        if isinstance(node, (cst.SimpleString, cst.ConcatenatedString, cst.FormattedString, cst.Integer)):
            return Verdict.FITS
        if isinstance(node, cst.Name):
            if node.value == "None":
                return Verdict.FITS
            meaning = self.meaning(node.value, point, place)
            return self._is_device(meaning, node.value, point) if meaning is not None else Verdict.REFUSED
        if isinstance(node, cst.IfExp):
            return min(self.device(node.body, point, place), self.device(node.orelse, point, place))
        if isinstance(node, cst.Attribute) and node.attr.value in ("device", "type"):
            if node.attr.value == "type":
                return self.device(node.value, point, place)
            return self._has_device(node.value, point, place)
        if isinstance(node, cst.Call):
            return Verdict.FITS if _dotted(node.func).rpartition(".")[2] in _MAKERS else Verdict.DOUBTFUL
        path = _dotted(node)
        return Verdict.FITS if path and looks_like_device(path) and not names_index(path) else Verdict.DOUBTFUL

    def _is_device(self, meaning: Meaning, name: str, point: Point) -> Verdict:
        kinds = {self._device_kind(value) for held in meaning.values for value in held.parts}
        if Verdict.REFUSED in kinds or meaning.is_builtin:
            return Verdict.REFUSED
        if kinds == {Verdict.FITS} or (looks_like_device(name) and not names_index(name)):
            return Verdict.FITS
        return Verdict.DOUBTFUL

    @staticmethod
    def _device_kind(value: Value) -> Verdict:
        if value.kind in _DEVICES:
            return Verdict.FITS
        if value.kind in _NO_DEVICES:
            return Verdict.REFUSED
        if value.kind is Kind.STRING:
            return Verdict.FITS if value.device.place in ("sym", "cpu", "acc", "meta") else Verdict.DOUBTFUL
        if value.kind is Kind.SCALAR:
            return Verdict.REFUSED if isinstance(value.constant, (bool, float)) else Verdict.DOUBTFUL
        return Verdict.DOUBTFUL

    def _has_device(self, holder: cst.BaseExpression, point: Point, place: cst.CSTNode | None) -> Verdict:
        """How `holder.device` fits: the holder is a tensor, or an object that has the attribute here."""
        if isinstance(holder, cst.Call):
            return Verdict.FITS if _dotted(holder.func) == "next" else Verdict.DOUBTFUL
        if not isinstance(holder, cst.Name):
            return self._has_device_deep(holder, point)
        meaning = self.meaning(holder.value, point, place)
        if meaning is None or meaning.is_builtin:
            return Verdict.REFUSED
        path = f"{holder.value}.device"
        is_own = meaning.owner is point.body and Cfg.of(point.body).definitely_bound(path, point.op)
        if is_own:
            return Verdict.FITS
        if self._once(self._is_tested, holder.value, point.body) or is_used_as_container(
            holder.value, self._analysis.index_of(point.body)
        ):
            return Verdict.REFUSED
        is_argument = meaning.owner is point.body and holder.value != self._analysis.index_of(point.body).self_name
        given = is_argument and Cfg.of(point.body).bindings(holder.value, point.op).parameter is not None
        if given and is_contradicted(holder.value, point.body, self._analysis):
            return Verdict.REFUSED
        if meaning.owner is point.body and self._may_be_none(holder.value, point):
            return Verdict.REFUSED
        if not follows_an_object(path) and self._once(self._is_read_in_file, holder.value, "device"):
            return Verdict.FITS  # options: what the program reads elsewhere they have
        fits = min(
            (self._holder_kind(value, point) for held in meaning.values for value in held.parts),
            default=Verdict.DOUBTFUL,
        )
        is_guess = given and fits is Verdict.FITS and self._is_guessed(holder.value, point)
        return Verdict.DOUBTFUL if is_guess else fits

    def _is_guessed(self, name: str, point: Point) -> bool:
        """True for an argument that is a tensor by the look of it alone; what a run of the program saw is no guess."""
        seen = self._analysis.observed.parameters.get((id(point.body), name))
        return seen is None and not self._once(is_proven_tensor, name, point.body, self._analysis)

    def _has_device_deep(self, holder: cst.BaseExpression, point: Point) -> Verdict:
        """The same for `self.fc.weight.device`."""
        if isinstance(holder, cst.Attribute) and holder.attr.value in ("weight", "bias"):
            module = self._own_attribute(holder.value, point)
            if any(value.kind is Kind.MODULE and value.symbol in LEAF_MODULES_WITH_WEIGHTS for value in module):
                return Verdict.FITS
            return Verdict.DOUBTFUL
        held = self._own_attribute(holder, point)
        kinds = {value.kind for value in held}
        if kinds and kinds <= {Kind.TENSOR}:
            return Verdict.FITS
        return Verdict.REFUSED if kinds & _WITHOUT_DEVICE else Verdict.DOUBTFUL

    def _own_attribute(self, node: cst.BaseExpression, point: Point) -> list[Value]:
        """What `self.name` was given in the file."""
        summary = self._analysis.enclosing_summary(point.body)
        own = self._analysis.index_of(point.body).self_name
        if summary is None or not isinstance(node, cst.Attribute) or _dotted(node.value) != own:
            return []
        return [store.value for store in summary.stores_of(node.attr.value)]

    def _holder_kind(self, value: Value, point: Point) -> Verdict:
        if value.kind is Kind.TENSOR:
            return Verdict.FITS
        if value.kind in _WITHOUT_DEVICE or (value.kind is Kind.MODULE and value.symbol.startswith("torch.nn.")):
            return Verdict.REFUSED
        if value.kind in (Kind.MODULE, Kind.INSTANCE, Kind.CLASS) and isinstance(value.definition, ir.Class):
            return self._class_has_device(value, point)
        return Verdict.DOUBTFUL

    def _class_has_device(self, value: Value, point: Point) -> Verdict:
        """How `x.device` fits for an object of a class of this file, or for the class itself."""
        summary = self._analysis.summary_of(value.definition)
        if value.kind is Kind.CLASS:
            in_class = "device" in summary.cls.body.local_names and not summary.has_device_property
            return Verdict.DOUBTFUL if in_class and summary.method("device") is None else Verdict.REFUSED
        if summary.has_device_property or summary.is_lightning or "device" in summary.cls.body.local_names:
            return Verdict.FITS
        stores = summary.stores_of("device")
        if not stores:
            # A base class of another file may have it.
            known = all(base.startswith("torch.nn.") or base == "object" for base in summary.bases)
            return Verdict.REFUSED if known else Verdict.DOUBTFUL
        is_self = value.ref == "self"
        if is_self and point.body.name == "__init__":
            bound = Cfg.of(point.body).definitely_bound(
                f"{self._analysis.index_of(point.body).self_name}.device", point.op
            )
            return Verdict.FITS if bound else Verdict.REFUSED
        in_constructor = [store for store in stores if store.body.name in ("__init__", "__new__", "__post_init__")]
        if any(Cfg.of(store.body).bound_at_end(_stored_path(store.body, store.op)) for store in in_constructor):
            kinds = {self._device_kind(part) for store in stores for part in store.value.parts}
            return Verdict.REFUSED if Verdict.REFUSED in kinds else Verdict.FITS
        return Verdict.DOUBTFUL

    def _may_be_none(self, name: str, point: Point) -> bool:
        """True for an argument that is None by default, or that the body compares with None, where no test decides that it is not."""
        definitions = self._analysis.index_of(point.body).definitions
        cfg = Cfg.of(point.body)
        parameter = cfg.bindings(name, point.op).parameter
        if parameter is None:
            return False
        default = default_of(point.body, parameter)
        return may_be_none(name, point.op, cfg, definitions, is_none_somewhere=_is_none(default))

    def _is_read_in_file(self, name: str, attribute: str) -> bool:
        """True where some function of the file reads `name.attribute`."""
        return any(
            attribute in lookup.attributes_of(read.dst)
            for lookup in map(Lookup.of, self._program.bodies)
            for read in lookup.loads(name)
        )

    def _is_tested(self, name: str, body: ir.Body) -> bool:
        """True where the body asks whether the object has the attribute at all: `hasattr(x, "device")`, `getattr(x, "device", None)`."""
        lookup = Lookup.of(body)
        for op in lookup.kind(ir.Call):
            callee, first, second = map(lookup.definition, (op.function, op.positional(0), op.positional(1)))
            if (
                isinstance(callee, ir.Load)
                and (callee.name == "hasattr" or (callee.name == "getattr" and op.positional_count == 3))
                and isinstance(first, ir.Load)
                and first.name == name
                and isinstance(second, ir.Constant)
                and second.value == "device"
            ):
                return True
        return False


def may_be_none(
    name: str, op: ir.Op, cfg: Cfg, definitions: list[ir.Op | None], *, is_none_somewhere: bool = False
) -> bool:
    """True where a body compares a name with None, or it is known to be None somewhere, and no test decides at `op` that it is not."""
    tests = _tests_for_none(cfg.body).get(name, {})
    if not tests and not is_none_somewhere:
        return False
    if any(test in tests and side is not tests[test] for test, side in cfg.decided_by(op)):
        return False
    # `if x is None: x = ...` above: behind it, it is something.
    for store in Lookup.of(cfg.body).stores(name):
        for test, side in cfg.decided_by(store):
            written = definitions[test]
            if tests.get(test) is side and written is not None and cfg.dominates(written, op):
                return False
    return True


@lru_cache(maxsize=8)
def _tests_for_none(body: ir.Body) -> dict[str, dict[ir.Register, bool]]:
    """By name the tests of a body that compare it with None, each with the side on which it is None."""
    found: dict[str, dict[ir.Register, bool]] = {}
    for test in Lookup.of(body).tested:
        asked = _asked_for_none(test, body)
        if asked is not None:
            found.setdefault(asked[0], {})[test] = asked[1]
    return found


def may_hold_none(op: ir.Op | None, definitions: list[ir.Op | None]) -> bool:
    """True for `None`, for a choice that has it among its values, and for `d.get(key)`."""
    if isinstance(op, ir.Choice):
        return any(may_hold_none(definitions[value], definitions) for value in op.values)
    if isinstance(op, ir.Call):
        called = definitions[op.function]
        return isinstance(called, ir.Attribute) and called.name == "get" and len(op.arguments) == 1
    return _is_none(op)


def _is_none(op: ir.Op | None) -> bool:
    return isinstance(op, ir.Constant) and op.value is None


def _asked_for_none(test: ir.Register, body: ir.Body) -> tuple[str, bool] | None:
    """The name that a test compares with None (or asks whether it is anything), and the side on which it is None."""
    definition = Lookup.of(body).definition
    written = definition(test)
    if isinstance(written, ir.Unary) and written.operator == "not":
        asked = _asked_for_none(written.operand, body)
        return None if asked is None else (asked[0], not asked[1])
    if isinstance(written, ir.Load):
        return written.name, False
    if isinstance(written, ir.Compare) and written.operators[0] in ("is", "is not", "==", "!="):
        left, right = definition(written.left), definition(written.comparators[0])
        if isinstance(left, ir.Load) and isinstance(right, ir.Constant) and right.value is None:
            return left.name, written.operators[0] in ("is", "==")
    return None


_MAKERS = frozenset({"device", "get_device", "current_accelerator", "current_device", "get_default_device"})


def _stored_path(body: ir.Body, store: ir.StoreAttribute) -> str:
    first = body.parameters[0].name if body.parameters else ""
    return f"{first}.{store.name}"


def _outermost(bodies: Iterable[ir.Body]) -> ir.Body:
    """Of bodies of which one holds the others, that one."""
    found = list(bodies)
    return min(found, key=lambda body: sum(1 for _ in scopes_of(body)))


# ---------------------------------------------------------------------------------------------------- syntax


def _parsed(edit: NodeEdit) -> cst.CSTNode | None:
    """The new code of an edit as a tree; None when there is none."""
    if not isinstance(edit.replacement, str):
        return edit.replacement
    if not edit.replacement.strip():
        return None
    try:
        return cst.parse_module(edit.replacement)
    except cst.ParserSyntaxError:
        return None


def _loads(node: cst.CSTNode) -> Iterator[cst.Name]:
    """The names that code reads or binds: no attributes, no keywords of calls, none of an import."""
    stack: list[cst.CSTNode] = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, cst.Name):
            if part.value not in ("True", "False", "None"):
                yield part
        elif isinstance(part, (cst.Attribute, cst.Arg)):
            stack.append(part.value)
        elif not isinstance(part, (cst.Import, cst.ImportFrom)):
            stack.extend(children(part))


def _bound_by(node: cst.CSTNode) -> Iterator[str]:
    """The names that a statement, a comprehension or a lambda binds for the code in it."""
    targets: list[cst.CSTNode] = []
    if isinstance(node, (cst.AssignTarget, cst.CompFor, cst.For, cst.NamedExpr)):
        targets = [node.target]
    elif isinstance(node, cst.Param):
        targets = [node.name]
    for target in targets:
        if isinstance(target, cst.Name):
            yield target.value
        elif isinstance(target, (cst.Tuple, cst.List)):
            for element in target.elements:
                if isinstance(element.value, cst.Name):
                    yield element.value.value


def _imports_of(edit: NodeEdit) -> Iterator[str]:
    """The names that an inserted import binds."""
    new = _parsed(edit) if edit.kind != "replace" or isinstance(edit.replacement, str) else edit.replacement
    for node in walk(new) if new is not None else ():
        if isinstance(node, (cst.Import, cst.ImportFrom)) and not isinstance(node.names, cst.ImportStar):
            for alias in node.names:
                if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                    yield alias.asname.name.value
                else:
                    yield _dotted(alias.name).partition(".")[0]


def _device_positions(
    new: cst.CSTNode, edit: NodeEdit, parents: dict[cst.CSTNode, cst.CSTNode]
) -> Iterator[cst.BaseExpression]:
    """The expressions of new code that stand where a device is wanted."""
    around = parents.get(edit.target)
    if isinstance(around, cst.Arg) and isinstance(new, (cst.BaseExpression, cst.Module)):
        call = parents.get(around)
        value = _only_expression(new)
        if (
            isinstance(call, cst.Call)
            and value is not None
            and around.value is edit.target
            and _is_device_place(call, around)
        ):
            yield value
    for node in walk(new):
        if isinstance(node, cst.Call):
            yield from (argument.value for argument in node.args if _is_device_place(node, argument))


def _only_expression(new: cst.CSTNode) -> cst.BaseExpression | None:
    if isinstance(new, cst.Module):
        line = new.body[0] if len(new.body) == 1 else None
        small = line.body[0] if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None
        return small.value if isinstance(small, cst.Expr) else None
    return new if isinstance(new, cst.BaseExpression) else None


def _is_device_place(call: cst.Call, argument: cst.Arg) -> bool:
    if argument.keyword is not None:
        return argument.keyword.value in _DEVICE_KEYWORDS
    is_first = bool(call.args) and call.args[0] is argument and not argument.star
    return is_first and isinstance(call.func, cst.Attribute) and call.func.attr.value == "to"


_MOVES = frozenset({"to", "cpu", "cuda", "detach"})


def _calls_method_of(new: cst.CSTNode, target: cst.CSTNode) -> bool:
    """True for `target.detach().cpu()` in the place of `target`."""
    while isinstance(new, cst.Call) and isinstance(new.func, cst.Attribute) and new.func.attr.value in _MOVES:
        new = new.func.value
        if new is target:
            return True
    return False


def _is_within(node: cst.CSTNode, target: cst.CSTNode) -> bool:
    """True for a part that the new code takes over from the old."""
    return any(part is node for part in walk(target))


def _is_moved(other: NodeEdit, new: cst.CSTNode) -> bool:
    """True where the other edit takes away what `new` puts elsewhere."""
    if other.kind != "replace" or not isinstance(other.replacement, str) or other.replacement.strip():
        return False
    return _code(other.target).strip() == _code(new).strip()


def _code(node: cst.CSTNode) -> str:
    return node.code if isinstance(node, cst.Module) else cst.Module([]).code_for_node(node)


def _dotted(node: cst.CSTNode) -> str:
    if isinstance(node, cst.Attribute):
        base = _dotted(node.value)
        return f"{base}.{node.attr.value}" if base else ""
    return node.value if isinstance(node, cst.Name) else ""
