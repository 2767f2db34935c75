"""TDL112."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind, Value
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.rules.rule import ERROR, NodeFix, Report, Rule, on_call, on_method

_ALL = ("torch.cuda.set_rng_state_all", "torch.cuda.random.set_rng_state_all")


class RngStateMovedToAccelerator(Rule):
    """Finds saved random states that the load has moved to the accelerator.

    ## What it does
    Follows the result of `torch.load(f, map_location=device)` to `torch.set_rng_state`, `torch.cuda.set_rng_state(_all)` and
    `Generator.set_state`.

    ## Why is this bad?
    A random state must be a ByteTensor on the CPU, also that of a GPU's generator. `map_location` moves it together with the
    weights: `TypeError: RNG state must be a torch.ByteTensor`.

    ## Example
        checkpoint = torch.load(path, map_location=device)
        torch.set_rng_state(checkpoint["rng"])

    ## Use instead
        checkpoint = torch.load(path, map_location=device)
        torch.set_rng_state(checkpoint["rng"].cpu())

    ## When it stays silent
    `map_location="cpu"`, no map_location (the state keeps its CPU tag), `.cpu()` or `.type(torch.ByteTensor)` before the call.

    ## Fix safety
    `.cpu()` is safe for `torch.set_rng_state` and `Generator.set_state`; for the functions of `torch.cuda` it is unsafe until it
    was run on a GPU.

    ## Proof
    A resumed program raises the TypeError on an accelerator; with `.cpu()` it continues with the numbers of the run that was saved.

    ## References
    torch/csrc/Generator.cpp (THPGenerator_setState), torch/random.py, torch/cuda/random.py.
    """

    code, name, severity = "TDL112", "rng-state-moved-to-accelerator", ERROR
    fixable = "sometimes"

    @on_call(
        "torch.set_rng_state",
        "torch.random.set_rng_state",
        "torch.cuda.set_rng_state",
        "torch.cuda.random.set_rng_state",
        *_ALL,
    )
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        name = facts.callee(call)
        register = call.argument("new_states" if name in _ALL else "new_state", 0)
        yield from self._told(call, register, name, facts)

    @on_method("set_state")
    def check_generator(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        receiver = facts.receiver(call)
        if facts.value(receiver).kind is Kind.GENERATOR or facts.place(receiver).rpartition(".")[2] in (
            "generator",
            "rng",
            "gen",
        ):
            yield from self._told(call, call.positional(0), "set_state", facts)

    def _told(self, call: ir.Call, register: ir.Register | None, name: str, facts: Facts) -> Iterator[Report]:
        if register is None or not _may_be_elsewhere(facts.value(register)) or facts.in_try_catching("TypeError"):
            return
        several = name in _ALL
        moved = facts.value(register).moved
        yield self.report(
            call,
            f"this random state was moved, and `{name.rpartition('.')[2]}` wants it on the CPU; "
            + ("pass `[s.cpu() for s in ...]`" if several else "pass it through `.cpu()`"),
            detail=f"{'It was moved' if moved is not None else '`map_location` has moved it'} to the accelerator as well: the call raises "
            '"RNG state must be a torch.ByteTensor".',
            fix=lambda: _fix(register, several, safe="cuda" not in name, facts=facts),
        )


def _may_be_elsewhere(value: Value) -> bool:
    if value.kind is Kind.CHECKPOINT:
        return value.device.may_be_accelerator
    if value.kind in (Kind.TENSOR, Kind.UNKNOWN) and value.moved is not None:
        return value.device.may_be_accelerator
    return value.kind is Kind.TENSOR and value.device.is_accelerator


def _fix(register: ir.Register, several: bool, *, safe: bool, facts: Facts) -> NodeFix | None:
    written = facts.definition(register)
    edits = builders.map_method(written, "state", "cpu") if several else builders.wrap_method(written, "cpu")
    return NodeFix(Ground.MOVE_DOES_NOTHING if safe else Ground.AWAITS_A_GPU, "Bring the state back to the CPU", edits)
