"""TDL903."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import block_of, reachable
from torchdevlint.rules.rule import WARNING, Mention, Report, Rule, on_any_call, on_file, on_op

CLOCKS = (
    "time.time",
    "time.perf_counter",
    "time.monotonic",
    "time.time_ns",
    "time.perf_counter_ns",
    "timeit.default_timer",
)
_WAITS = frozenset(
    "synchronize item tolist cpu numpy wait elapsed_time barrier all_reduce generate save print empty_cache".split()
)


class TimingWithoutSynchronize(Rule):
    """Finds wall-clock measurements of accelerator work that do not wait for it.

    ## What it does
    Reports `time.perf_counter() - start` where a module that is certainly on an accelerator is called in between, and nothing waits
    for its result.

    ## Why is this bad?
    Kernels run asynchronously: the call returns when the work is queued. The interval measures the launches, not the work, and is
    far too short, without an error.

    ## Example
        start = time.perf_counter()
        output = model(batch)
        print(time.perf_counter() - start)

    ## Use instead
        start = time.perf_counter()
        output = model(batch)
        torch.cuda.synchronize()
        print(time.perf_counter() - start)

    ## When it stays silent
    A `synchronize()`, `.item()`, `.cpu()`, `.tolist()`, `.numpy()` or an event in between; calls whose insides are not known;
    devices that are not certain; torch.utils.benchmark.

    ## Fix safety
    There is no automatic fix: the measurement belongs to its author.

    ## Proof
    None on a virtual machine: it needs a GPU's clock.

    ## References
    CUDA semantics, "Asynchronous execution" (docs/source/notes/cuda.rst).
    """

    code, name, severity = "TDL903", "timing-without-synchronize", WARNING
    needs = ("time",)

    def __init__(self) -> None:
        self._calls: dict[int, Facts] = {}  # by the identity of each
        self._intervals: list[tuple[ir.Binary, list[ir.Op]]] = []  # with what runs between the two readings

    @on_any_call
    def note(self, call: ir.Call, facts: Facts) -> None:
        if "time" in facts.program.words or "timeit" in facts.program.words:
            self._calls[id(call)] = facts

    def _is_queued(self, call: ir.Call) -> bool:
        """True for a call that queues work on an accelerator."""
        facts = self._calls.get(id(call))
        value = facts.value(call.function) if facts is not None else None
        if facts is None or value is None or value.kind is not Kind.MODULE:
            return False
        device = facts.frame.module_device(value)
        return device.is_accelerator or device.chosen

    @on_op(ir.Binary)
    def note_interval(self, difference: ir.Binary, facts: Facts) -> None:
        """`time.time() - start` and `end - start`, wherever they stand."""
        if difference.operator != "-":
            return
        end, start = _reading(difference.left, facts), _reading(difference.right, facts)
        if end is None or start is None or end is start:
            return
        between = _between(start, end, facts)
        if not any(_waits(op, facts) for op in between):
            self._intervals.append((difference, between))

    @on_file
    def tell(self, facts: Facts) -> Iterator[Report]:
        for difference, between in self._intervals:
            work = next((op for op in between if isinstance(op, ir.Call) and self._is_queued(op)), None)
            if work is None:
                continue
            yield self.report(
                difference,
                "this interval ends when line {0} is queued, not done; call `torch.cuda.synchronize()` before both readings",
                detail="Kernels run asynchronously: the call returns before the work is done.",
                related=(Mention(work, "here the work is queued"),),
            )


def _reading(register: ir.Register, facts: Facts) -> ir.Call | None:
    """The call that reads a clock, also by the one name that holds it."""
    made = facts.definition(register)
    if isinstance(made, ir.Load):
        stores = Cfg.of(facts.body).bindings(made.name, made).stores
        made = facts.definition(stores[0].value) if len(stores) == 1 else None
    return made if isinstance(made, ir.Call) and facts.callee(made) in CLOCKS else None


def _between(began: ir.Call, end: ir.Call, facts: Facts) -> list[ir.Op]:
    """The operations that may run between the two readings."""
    body = facts.body
    first, last = block_of(body, began), block_of(body, end)
    if first is None or last is None:
        return []
    if first is last:
        return first.ops[first.ops.index(began) : last.ops.index(end)]
    forward = reachable(body, first.index)
    found: list[ir.Op] = list(first.ops[first.ops.index(began) :])
    for block in body.blocks:
        if (
            block is not first
            and block is not last
            and block.index in forward
            and last.index in reachable(body, block.index)
        ):
            found += block.ops
    return found + list(last.ops[: last.ops.index(end)])


def _waits(op: ir.Op, facts: Facts) -> bool:
    """True for a call that waits for the accelerator, and for one whose insides are not known."""
    if not isinstance(op, ir.Call):
        return False
    name = Lookup.of(facts.body).called(op)
    is_named = isinstance(facts.definition(op.function), ir.Load) or facts.own_attribute(op.function) != ""
    is_unknown = is_named and name != "range" and facts.value(op.function).kind in (Kind.FUNCTION, Kind.UNKNOWN)
    return name in _WAITS or is_unknown
