"""Context managers that are made of a generator (`contextlib.contextmanager`): `with` runs the body up to its `yield`, and the rest of it where it is left.

So what is inside finds what the first part has done, and what comes behind it what the second part has set back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from torchdevlint.infer import devices
from torchdevlint.infer.evaluation import Evaluation, under_conditions
from torchdevlint.infer.guards import consistent
from torchdevlint.infer.replay import Replay
from torchdevlint.infer.state import State, join_states
from torchdevlint.infer.values import NONE, UNKNOWN, Const, Device, Func, Ref, Term, Value, options_of
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import reads

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context
    from torchdevlint.infer.state import Env, Facts
    from torchdevlint.infer.values import Rec, Site

MANAGER = "manager"
"""The kind of object that a call of such a function gives: its class is the function, its attributes are the variables."""
_WAITS_AT = ".@yield"  # where the body waits: the index of a block, or one of several
_FRAME = ".@own"  # the frame of its variables, where functions in it need one
_MOST_NESTED = 4  # of one function in itself


def pauses(body: ir.Body) -> dict[int, int]:
    """Where the body of such a function waits, by block, the position of its `yield`. None of a body that is not to be run in two parts."""
    if not body.is_generator or not any(_makes_manager(name) for name in body.decorators):
        return {}
    cfg, found = Cfg.of(body), dict[int, int]()
    for number in cfg.order:
        block = body.blocks[number]
        for at, op in enumerate(block.ops):
            if isinstance(op, ir.Yield):
                if number in found or op.delegates:
                    return {}
                found[number] = at
    return {} if any((cfg.behind(number) - {number}) & found.keys() for number in found) else found


def _makes_manager(name: str) -> bool:
    return name.rpartition(".")[2] in ("contextmanager", "asynccontextmanager")


def made(ctx: Context, function: Func, parameters: Env, site: Site | None) -> Ref:
    """What a call gives: nothing of the body has run."""
    variables = {f".{name}": value for name, value in parameters.items()}
    return ctx.new(site, MANAGER, Func(function.body, function.frame), variables, tag=(MANAGER, function.body))


def enter(ctx: Context, manager: Ref, rec: Rec, site: Site | None) -> Value:
    """What `with` binds, once the first part has run."""
    body = _body(rec)
    around = ctx.facts
    first = _run(ctx, rec, site, lambda: _FirstPart.of_call(ctx, body, _variables(rec)).run())
    if not isinstance(first, _FirstPart) or not first.reached:
        return UNKNOWN
    here = join_states([*first.reached.values()])
    ctx.heap = here.heap
    for name, value in {**here.env, **first.held()}.items():
        ctx.put(manager, f".{name}", value)
    if first.frame is not None:
        ctx.put(manager, _FRAME, first.frame)
    inside = [place for number in first.reached if (place := first.default_in(body.blocks[number])) is not None]
    if inside:
        ctx.put(manager, devices.DEFAULT_INSIDE, inside[0] if isinstance(inside[0], Term) else Device(inside[0]))
    several: list[tuple[Facts, Value]] = [
        (state.facts - around, Const(number)) for number, state in first.reached.items()
    ]
    ctx.put(manager, _WAITS_AT, under_conditions(several, is_once=False))
    return under_conditions([(facts - around, value) for facts, value in first.yields], is_once=False)


def leave(ctx: Context, rec: Rec, site: Site | None) -> None:
    """Runs the second part of what was entered."""
    begins: dict[int, State] = {}
    body, variables = _body(rec), _variables(rec)
    for facts, place in options_of(rec.at(_WAITS_AT, NONE)):
        if isinstance(place, Const) and isinstance(place.value, int) and consistent(facts, ctx.facts):
            begins[place.value] = State(dict(variables), dict(ctx.heap), ctx.facts | facts)
    if begins:
        _run(ctx, rec, site, lambda: _SecondPart.of_rest(ctx, body, rec).run(begins))


def _body(rec: Rec) -> ir.Body:
    assert isinstance(rec.cls, Func)
    return rec.cls.body


def _variables(rec: Rec) -> Env:
    return {name: value for name, value in rec.attributes.items() if name == "@frame" or not name.startswith("@")}


def _run(ctx: Context, rec: Rec, site: Site | None, run: Callable[[], Evaluation]) -> Evaluation | None:
    """Runs a part of the body as a call of it; None where there are too many."""
    body = _body(rec)
    summary = ctx.analysis.summary(body)
    if summary is None or ctx.stack.count(body) >= _MOST_NESTED or not ctx.analysis.may_replay():
        return None
    parameters = {one.name: rec.at(f".{one.name}") for one in body.parameters}
    return Replay(ctx, summary, body, parameters, site).run_anew(run)


class _Part(Evaluation):
    """A part of the body: registers of the first one that the second one reads are kept among the variables, as "%" and a number."""

    @cached_property
    def _pauses(self) -> dict[int, int]:
        return pauses(self.body)


class _FirstPart(_Part):
    @cached_property
    def reached(self) -> dict[int, State]:
        """How it came to each `yield`."""
        return {}

    def operations(self, block: ir.Block) -> Sequence[ir.Op]:
        """Those up to its `yield`."""
        return block.ops[: self._pauses[block.index] + 1] if block.index in self._pauses else block.ops

    def leads_on(self, source: int, target: int) -> bool:
        """Not behind a `yield`, nor to where an exception in front of it leads."""
        return source not in self._pauses and (
            target in self._pauses or bool(self._cfg.behind(target) & self._pauses.keys())
        )

    def _block(self, block: ir.Block, state: State) -> None:
        super()._block(block, state)
        if block.index in self._pauses:
            self.reached[block.index] = State(self.env, dict(self.ctx.heap), self.ctx.facts)

    def held(self) -> Env:
        """What the second part finds in registers."""
        read: set[ir.Register] = set()
        for number, at in self._pauses.items():
            for block in (self.body.blocks[other] for other in (number, *self._cfg.behind(number))):
                read.update(block.withs, [] if block.test is None else [block.test])
                for op in block.ops[at + 1 :] if block.index == number else block.ops:
                    read.update(op.managers if isinstance(op, ir.Exit) else reads(op))
        return {f"%{number}": self.registers[number] for number in read if number in self.registers}


class _SecondPart(_Part):
    @classmethod
    def of_rest(cls, ctx: Context, body: ir.Body, rec: Rec) -> _SecondPart:
        """Of what has been entered."""
        variables = _variables(rec)
        made = cls(ctx, body, variables, rec.fields.get(_FRAME), is_of_call=True, around=rec.at(".@frame"))
        made.registers = {int(name[1:]): value for name, value in variables.items() if name.startswith("%")}
        for number, at in made._pauses.items():
            op = body.blocks[number].ops[at]
            assert isinstance(op, ir.Yield)
            made.registers[op.dst] = NONE  # nothing is sent
        return made

    def operations(self, block: ir.Block) -> Sequence[ir.Op]:
        """Those behind its `yield`."""
        return block.ops[self._pauses[block.index] + 1 :] if block.index in self._pauses else block.ops
