"""Each body of a file as somebody from outside may run it: what its registers hold, and the state in front of the operations that are asked about.

The analysis itself sums a body up for any caller; rules ask what stands in it. So a body is run once more, with open parameters, in the heap
that its module, its class or the function around it leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from torchdevlint.infer.context import Context
from torchdevlint.infer.evaluation import Evaluation
from torchdevlint.infer.joins import join
from torchdevlint.infer.state import Env, Heap, State, join_states
from torchdevlint.infer.values import UNKNOWN, Cls, Rec, Ref, Term, Value, options_of
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.stubs.knowledge.functions import AVAILABILITY

if TYPE_CHECKING:
    from torchdevlint.infer.analysis import Analysis

_ASKS = frozenset(name.rpartition(".")[2] for name in AVAILABILITY)  # what asks for an accelerator, by its last name


def _is_answer(value: Value) -> bool:
    """True for what a test of the machine gives, and for what is chosen by one."""
    return any(_asks(one) or any(_asks(term) for term, _ in guards) for guards, one in options_of(value))


def _asks(value: Value) -> bool:
    """True for the answer of a test of the machine, its opposite, and a comparison of it."""
    if not isinstance(value, Term):
        return False
    return value.op == "available" or (value.op in ("not", "binary") and any(map(_asks, value.args)))


Wanted = Callable[[ir.Body, ir.Op], bool]


class Walk(Evaluation):
    """A body as it is run by somebody from outside. `moments` has the state in front of each operation that was wanted."""

    def __init__(
        self, ctx: Context, body: ir.Body, env: Env, frame: Value | None, outer: Value, wanted: Wanted
    ) -> None:
        super().__init__(ctx, body, env, frame)
        self.outer, self._wanted = outer, wanted
        self.moments: dict[ir.Op, State] = {}
        self.owner: Ref | None = None
        self._of_turns: dict[ir.Op, list[tuple[Value, State | None]]] = {}

    def _step(self, op: ir.Op) -> None:
        if self._wanted(self.body, op):
            self.moments[op] = State(dict(self.env), dict(self.ctx.heap), self.ctx.facts)
        super()._step(op)

    def _end_of_turn(self, blocks: Sequence[int]) -> None:
        for number in blocks:
            for op in self.body.blocks[number].ops:
                value = self.registers.get(op.dst, UNKNOWN) if isinstance(op, ir.ValueOp) else UNKNOWN
                self._of_turns.setdefault(op, []).append((value, self.moments.get(op)))

    def _end_of_turns(self, blocks: Sequence[int]) -> None:
        """What a register holds in any turn."""
        for number in blocks:
            for op in self.body.blocks[number].ops:
                seen = self._of_turns.pop(op, [])
                if isinstance(op, ir.ValueOp) and seen:
                    self.registers[op.dst] = join(*(value for value, _ in seen))
                moments = [state for _, state in seen if state is not None]
                if moments:
                    self.moments[op] = join_states(moments)

    def _enclosing(self) -> Value | None:
        return self.ctx.class_frame if self.body.kind == "class" else self.outer


class Walks:
    """The walks of a file's bodies, each made when it is asked for."""

    def __init__(self, analysis: Analysis, wanted: Wanted) -> None:
        self._analysis, self._wanted = analysis, wanted
        self._made: dict[ir.Body, Walk | None] = {}
        self._objects: dict[ir.Class, tuple[Heap, Ref]] = {}

    def of(self, body: ir.Body) -> Walk | None:
        """The walk of a body; None where nobody can run it by itself."""
        if body not in self._made:
            self._made[body] = None
            module = self._analysis.unit.program.module
            around = self.of(module) if body is not module else None
            with self._analysis.unheard(around.ctx.heap if around is not None else {}):
                self._made[body] = self._walk(body)
        return self._made[body]

    def _walk(self, body: ir.Body) -> Walk | None:
        analysis = self._analysis
        unit = analysis.unit
        if body.kind == "module":
            ctx = Context(analysis, unit, "module", body)
            ctx.heap = {unit.globals: Rec("frame"), analysis.settings: Rec("frame")}
            return self._run(ctx, body, {}, None, unit.globals)
        outer, heap = self._around(body)
        ctx = Context(analysis, unit, "root", body)
        ctx.heap = dict(heap)
        if body.kind == "class":
            ctx.class_frame = outer
            return self._run(ctx, body, {}, None, outer)
        summary = analysis.summary(body)
        if summary is None:
            return None
        owner: Ref | None = None
        env: Env = {}
        if body.owner is not None and body.parameters and not body.is_static:
            is_made = body.owner.methods.get("__init__") is body
            of_object, owner = analysis.open_object(body.owner) if is_made else self._object(body.owner)
            ctx.heap.update({place: rec for place, rec in of_object.items() if place not in ctx.heap or place == owner})
            is_of_class = body.is_class_method
            env[body.parameters[0].name] = Cls(body.owner, unit.globals) if is_of_class else owner
            ctx.weak |= analysis.inputs(body)
        env.update(analysis.open_parameters(body, summary, skipped=len(env)))
        walk = self._run(ctx, body, env, ctx.frame(body, env, outer), outer)
        up = self._made.get(body.parent) if body.parent is not None else None
        walk.owner = owner if owner is not None or up is None else up.owner
        return walk

    def _run(self, ctx: Context, body: ir.Body, env: Env, frame: Value | None, outer: Value) -> Walk:
        ctx.mute = ctx.is_any_machine = True
        walk = Walk(ctx, body, env, frame, outer, self._wanted)
        walk.run()
        return walk

    def _around(self, body: ir.Body) -> tuple[Value, Heap]:
        """The variables around a body, and the heap that it finds."""
        unit, up = self._analysis.unit, body.parent
        while up is not None and up.kind == "class":
            up = up.parent
        if up is None or up.kind == "module":
            module = self.of(unit.program.module)
            return unit.globals, module.ctx.heap if module is not None else {}
        walk = self.of(up)
        if walk is None:
            return Term("parameter", body, "@frame"), {}
        return walk.frame if walk.frame is not None else UNKNOWN, walk.ctx.heap

    def _object(self, cls: ir.Class) -> tuple[Heap, Ref]:
        if cls not in self._objects:
            heap, ref = self._objects[cls] = self._analysis.open_object(cls)
            answers = self._answers(cls)
            if answers:
                rec = heap[ref]
                self._objects[cls] = {**heap, ref: Rec(rec.kind, rec.cls, {**rec.fields, **answers})}, ref
        return self._objects[cls]

    def _answers(self, cls: ir.Class) -> dict[str, Value]:
        """What the constructor alone keeps of asking the machine, which no summary knows: `self.on_gpu = torch.cuda.is_available()`."""
        init = cls.methods.get("__init__")
        if init is None or self._analysis.unit.program.words.isdisjoint(_ASKS):
            return {}
        walk = self.of(init)
        rec = walk.ctx.heap.get(walk.owner) if walk is not None and walk.owner is not None else None
        kept = {key: value for key, value in rec.attributes.items() if _is_answer(value)} if rec is not None else {}
        others = [method for method in cls.methods.values() if method is not init] if kept else []
        set_again = {op.name for method in others for op in Lookup.of(method).kind(ir.StoreAttribute)}
        return {"." + name: value for name, value in kept.items() if name not in set_again}
