"""TDL109."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.calls import Site, calls_of
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.naming import MODEL_NAME
from torchdevlint.facts.values import Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.rule import WARNING, NodeFix, Report, Rule, on_call, on_method
from torchdevlint.rules.structure import may_follow


class SaveMovesLiveModel(Rule):
    """Finds saves that move the model that goes on training to the CPU.

    ## What it does
    Reports `torch.save(model.cpu(), f)` and `model.cpu().state_dict()` (also `.to("cpu")`) where the model is used again afterwards.

    ## Why is this bad?
    `Module.cpu()` works in place. Training or inference that goes on gets a CPU model: the next forward raises `Expected all tensors to be on the
    same device`, or runs slowly on the CPU without a word; an optimizer with state fails in its next `step()`.

    ## Example
        for epoch in range(epochs):
            train(model)
            torch.save(model.cpu().state_dict(), path)

    ## Use instead
            state = model.state_dict()
            for key in state:
                state[key] = state[key].cpu()
            torch.save(state, path)

    ## When it stays silent
    The save is the last use and stands in no loop; no caller uses the model that is given back; the model is moved back right after; each
    other method that calls it moves it first; the receiver is a copy (`copy.deepcopy(model)`).

    ## Fix safety
    Unsafe: the saved dict is a new one with copies, and the model stays where it is.

    ## Proof
    Training that goes on after the save fails on an accelerator, and goes on like the CPU run after the repair.

    ## References
    torch/nn/modules/module.py (cpu, _apply).
    """

    code, name, severity = "TDL109", "save-moves-live-model", WARNING
    fixable = "unsafe"

    @on_method("state_dict")
    def check_state_dict(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        register = facts.receiver(call)
        move = facts.definition(register)
        if isinstance(move, ir.Call):
            yield from self._told(move, call, facts)

    @on_call("torch.save")
    def check_save(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        move = facts.definition(call.argument("obj", 0))
        method = facts.definition(move.function) if isinstance(move, ir.Call) else None
        if not isinstance(move, ir.Call) or not isinstance(method, ir.Attribute):
            return
        if facts.value(method.object).kind is Kind.MODULE or MODEL_NAME.search(facts.place(method.object)):
            yield from self._told(move, None, facts)  # a tensor's `.cpu()` gives a copy

    def _told(self, move: ir.Call, state_dict: ir.Call | None, facts: Facts) -> Iterator[Report]:
        written = facts.definition(move.function)
        if not isinstance(written, ir.Attribute) or not _goes_to_cpu(move, written.name, facts):
            return
        place = facts.place(written.object)
        if (
            not place
            or facts.value(written.object).kind not in (Kind.MODULE, Kind.UNKNOWN)
            or not _used_again(place, move, facts)
        ):
            return
        yield self.report(
            move,
            f"`{place}.{written.name}(...)` moves the model itself, which is used again; save CPU copies of its tensors",
            detail="The code that runs after this save works with a CPU model: on an accelerator it fails, or runs on the CPU without a word.",
            fix=lambda: _fix(move, state_dict, place),
        )


_MOVES = frozenset({"to", "cuda"})


def _goes_to_cpu(move: ir.Call, method: str, facts: Facts) -> bool:
    if method == "cpu":
        return not move.arguments
    return method == "to" and facts.device_of(move.argument("device", 0)).place == "cpu"


def _used_again(place: str, move: ir.Call, facts: Facts) -> bool:
    """True when the value of the name is read later, also in another turn, or by a method that does not move it, and not moved back at once."""
    root = place.partition(".")[0]
    ops = [op for block in facts.body.blocks for op in block.ops]
    at = next((number for number, op in enumerate(ops) if op is move), len(ops))
    if _moves(ops[at + 1 :], root, ("to", "cuda"), facts) or _other_branch_moves_back(ops[:at], root, facts):
        return False
    if "." not in place:
        return Cfg.of(facts.body).is_read_after(root, move) and not _is_returned_to_nobody(root, move, facts)
    owner = facts.body.owner
    others = owner.methods.values() if owner is not None and facts.body.name not in ("__del__", "close") else ()
    return facts.in_loop or any(_calls_it_where_it_is(method, place, facts) for method in others)


def _calls_it_where_it_is(method: ir.Body, place: str, facts: Facts) -> bool:
    """True for a method that calls what an attribute holds, and moves it nowhere itself."""
    index = facts.analysis.index_of(method)
    kept = f"{index.self_name}.{place.partition('.')[2]}"
    aliases = (name for name, values in index.stored.items() if any(index.dotted(value) == kept for value in values))
    uses = [index.use(name) for name in (kept, *aliases)]
    return any(use.called for use in uses) and not any(use.attributes & _MOVES for use in uses)


def _is_returned_to_nobody(name: str, move: ir.Call, facts: Facts) -> bool:
    """True where the function only gives the model back after the move, and none of those that call it does anything with it."""
    lookup = Lookup.of(facts.body)
    after = [load for load in lookup.loads(name) if may_follow(facts.body, move, load)]
    if not all(isinstance(reader, ir.Return) for load in after for reader in lookup.readers(load.dst)):
        return False
    sites = list(calls_of(facts.body, facts.analysis))
    return bool(sites) and not any(map(_is_used, sites))


def _is_used(site: Site) -> bool:
    """True for a call whose result is used, under a name too."""
    readers = [op for op in Lookup.of(site.body).readers(site.call.dst) if not isinstance(op, ir.Discard)]
    return any(
        not isinstance(reader, ir.Store) or Cfg.of(site.body).is_read_after(reader.name, reader) for reader in readers
    )


def _moves(ops: list[ir.Op], root: str, methods: tuple[str, ...], facts: Facts) -> list[int]:
    """Where the operations move the thing of this name."""
    return [
        number
        for number, op in enumerate(ops)
        if isinstance(op, ir.Attribute)
        and op.name in methods
        and facts.frame.place(op.object).partition(".")[0] == root
    ]


def _other_branch_moves_back(before: list[ir.Op], root: str, facts: Facts) -> bool:
    """True for `if on_gpu: save(net.cpu()...); net.cuda() else: save(net.cpu()...)`: in the other branch the net is on the CPU."""
    first = _moves(before, root, ("cpu",), facts)
    return bool(first) and any(at > first[0] for at in _moves(before, root, ("to", "cuda"), facts))


def _fix(move: ir.Call, state_dict: ir.Call | None, place: str) -> NodeFix | None:
    if state_dict is None:
        return None
    edits = builders.replace_expression(
        state_dict, f"{{key: value.detach().cpu() for key, value in {place}.state_dict().items()}}"
    )
    return NodeFix(Ground.CHANGES_A_RUN, "Save CPU copies and leave the model where it is", edits)
