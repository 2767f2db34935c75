"""What `torchdevlint debug` asks of an analysis: the values at some operations, for any caller and for each, and the claims made there."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Literal, NamedTuple

from torchdevlint.infer import tensors
from torchdevlint.infer.printing import show
from torchdevlint.infer.summary import Claim, Fault
from torchdevlint.infer.values import HOST, Site, Tensor, Term, Value, alternatives
from torchdevlint.program import ir

if TYPE_CHECKING:
    from torchdevlint.infer.analysis import Analysis
    from torchdevlint.infer.context import Context, Mode
    from torchdevlint.infer.replay import Replay

Outcome = Literal["met", "broken", "open", "left to the callers", "undecided", "only on the CPU"]
MOST_CALLS = 100  # of which the values are kept


class Seen(NamedTuple):
    """A claim as it was decided once. `operands` are its operands in words, `chain` the calls that led to it, the innermost first."""

    claim: Claim
    outcome: Outcome
    mode: Mode
    operands: tuple[str, ...]
    chain: tuple[Site, ...]
    faults: tuple[Fault, ...]


class Entered(NamedTuple):
    """What the operations of a body hold in one call. `chain` is empty for a caller from outside of the file."""

    body: ir.Body
    chain: tuple[Site, ...]
    values: dict[ir.Op, str]
    parameters: dict[str, str]


_BINDS = (ir.Store, ir.StoreAttribute, ir.StoreSubscript, ir.Return)


class _Open(NamedTuple):
    """A call whose values wait for a caller."""

    body: ir.Body
    chain: tuple[Site, ...]
    values: dict[ir.Op, Value]
    parameters: dict[str, Value]


class Recorder:
    """Listens to the analysis of `program`. `ops` are the operations, `bodies` the bodies of which the parameters are wanted.

    `values` has each operation for any caller, an operation that binds with what it binds; `entered` has each call.
    """

    def __init__(self, program: ir.Program, ops: Container[ir.Op], bodies: Container[ir.Body] = ()) -> None:
        self.ops, self.bodies = ops, bodies
        self._body_of: dict[ir.Op, ir.Body] = {}
        self._tells: dict[ir.Op, list[ir.Op]] = {}  # what is told of where a value is made
        for body in program.bodies:
            self._look_at(body)
        self.values: dict[ir.Op, str] = {}
        self.claims: list[Seen] = []
        self.entered: list[Entered] = []
        self._raw: dict[ir.Body, dict[ir.Op, Value]] = {}
        self._inside: dict[ir.Body, list[_Open]] = {}  # the calls that a body makes, in terms of its parameters
        self._faults: list[Fault] = []

    def _look_at(self, body: ir.Body) -> None:
        several = [op for block in body.blocks for op in block.ops]
        maker = {op.dst: op for op in several if isinstance(op, ir.ValueOp)}
        for op in several:
            if op not in self.ops:
                continue
            value = op.value if isinstance(op, _BINDS) else None
            made = op if isinstance(op, ir.ValueOp) else maker.get(value) if value is not None else None
            if made is not None:
                self._tells.setdefault(made, []).append(op)
                self._body_of[made] = body

    def __call__(self, op: ir.Op, value: Value, ctx: Context) -> None:
        """Called behind each operation that gives a value. The last pass over a loop is the one that stays."""
        for told in self._tells.get(op, ()):
            self._raw.setdefault(self._body_of[op], {})[told] = value
            self.values[told] = show(value, ctx)

    def replayed(self, replay: Replay) -> None:
        """Called behind each call of a summary: the same values, under what this caller gives. Nothing of the analysis changes by it."""
        ctx, body = replay.ctx, replay.body
        calls = list(self._inside.get(body, ()))
        if body in self._raw or body in self.bodies:
            given: dict[str, Value] = {p.name: Term("parameter", body, p.name) for p in body.parameters}
            calls.append(_Open(body, (), self._raw.get(body, {}), given))
        if not calls:
            return
        saved = ctx.heap, ctx.facts, ctx.mute, set(ctx.proven)
        ctx.heap, ctx.mute = dict(ctx.heap), True
        try:
            for call in calls:
                values = {op: replay.value(value) for op, value in call.values.items()}
                parameters = {name: replay.value(value) for name, value in call.parameters.items()}
                self._keep(ctx, _Open(call.body, (*call.chain, *ctx.chain), values, parameters))
        finally:
            ctx.heap, ctx.facts, ctx.mute, ctx.proven = saved

    def _keep(self, ctx: Context, call: _Open) -> None:
        """A call that nobody will say more about, or one that waits for the callers of the body that makes it."""
        if ctx.mode == "summary" and ctx.body is not None:
            inside = self._inside.setdefault(ctx.body, [])
            if len(inside) < MOST_CALLS:
                inside.append(call)
        elif len(self.entered) < MOST_CALLS:
            values = {op: show(value, ctx) for op, value in call.values.items()}
            told = {name: show(value, ctx) for name, value in call.parameters.items()}
            self.entered.append(Entered(call.body, call.chain, values, told))

    def is_proven(self, op: ir.Op, body: ir.Body, analysis: Analysis) -> bool:
        """True where the use of an open value lets nothing but a tensor through."""
        summary = analysis.summary(body) if body.kind == "function" else None
        return summary is not None and self._raw.get(body, {}).get(op) in summary.proven

    def reported(self, fault: Fault) -> None:
        """Called for each fault, in front of the end of its claim."""
        self._faults.append(fault)

    def claimed(self, ctx: Context, claim: Claim, *, met: bool, is_pending: bool, is_reached: bool = True) -> None:
        """Called at the end of each claim. `met`: its operands are surely on one device; `is_pending`: a caller may still tell."""
        faults, self._faults = tuple(self._faults), []
        if not self._concerns(ctx, claim):
            return
        outcome: Outcome
        if not is_reached:
            outcome = "only on the CPU"
        elif faults:
            outcome = "broken" if any(fault.verdict == "broken" for fault in faults) else "open"
        elif is_pending and ctx.mode == "summary":
            outcome = "left to the callers"
        else:
            is_met = (met or claim.kind == "host") and _are_tensors(ctx, claim, on_host=claim.kind == "host")
            outcome = "met" if is_met else "undecided"
        operands = tuple(f"{operand.role or 'operand'}: {show(operand.value, ctx)}" for operand in claim.operands)
        self.claims.append(Seen(claim, outcome, ctx.mode, operands, claim.chain, faults))

    def _concerns(self, ctx: Context, claim: Claim) -> bool:
        """True for a claim at a wanted operation, and for one about a tensor or a module that was made there."""
        if claim.site.op in self.ops:
            return True
        for operand in claim.operands:
            for one, rec in ctx.each(operand.value):
                made = one.origin if isinstance(one, Tensor) else rec.fields.get("@origin") if rec is not None else None
                if isinstance(made, Site) and made.op in self.ops:
                    return True
        return False


def _are_tensors(ctx: Context, claim: Claim, *, on_host: bool) -> bool:
    several = [tensors.as_tensor(ctx, one) for operand in claim.operands for one in alternatives(operand.value)]
    return all(isinstance(one, Tensor) and (not on_host or one.device == HOST) for one in several)
