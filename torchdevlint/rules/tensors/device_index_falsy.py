"""TDL520."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.rule import ERROR, NodeFix, Report, Rule, on_any_call, on_file, on_op

_INDEX_NAMES = ("gpu", "gpu_id", "gpu_index", "cuda_id", "device_id", "device_index", "cuda_device", "local_rank")


class _Test(NamedTuple):
    op: ir.Op
    place: str
    body: ir.Body
    fallback: str = ""  # what stands behind the `or`


class DeviceIndexFalsy(Rule):
    """Finds device indices that are tested as if they were flags.

    ## What it does
    Reports `if gpu:`, `gpu or -1` and `x.cuda(gpu) if gpu else x` where the value is a device index: argparse gives it with
    `type=int`, or it is compared with -1 or None, and it stands in a device position (`.cuda(gpu)`, `torch.cuda.set_device(gpu)`,
    `f"cuda:{gpu}"`).

    ## Why is this bad?
    The first GPU has the index 0, which is false. The branch for "no GPU" is taken on it, without an error.

    ## Example
        parser.add_argument("--gpu", type=int, default=None)
        if args.gpu:
            model.cuda(args.gpu)

    ## Use instead
        if args.gpu is not None:
            model.cuda(args.gpu)

    ## When it stays silent
    Booleans, strings ("0,1"), counts (`device_count()`), and values that are not known to be an index.

    ## Fix safety
    Unsafe: with index 0 the other branch runs from now on.

    ## Proof
    With `--gpu 0` the program stays on the CPU; with `is not None` it uses the GPU.

    ## References
    torch/cuda/__init__.py (set_device: a device index).
    """

    code, name, severity = "TDL520", "device-index-falsy", ERROR
    needs = _INDEX_NAMES
    fixable = "unsafe"

    def __init__(self) -> None:
        self._tests: list[_Test] = []
        self._indices: set[str] = set()  # last names that stand in a device position
        self._integers: set[str] = set()  # last names that are integers or None
        self._others: set[str] = set()  # last names that are something else

    @on_any_call
    def note_call(self, call: ir.Call, facts: Facts) -> None:
        name = facts.callee(call)
        if name == ".add_argument":
            self._note_option(call, facts)
        elif name in (".cuda", "torch.cuda.set_device", "torch.cuda.device"):
            self._note_index(call.argument("device", 0), facts)
        elif name == "torch.device":
            self._note_index(call.argument("index", 1), facts)
            self._note_formatted(call.positional(0), facts)
        elif name == ".to":
            self._note_formatted(call.positional(0), facts)

    def _note_option(self, call: ir.Call, facts: Facts) -> None:
        kind = facts.definition(call.keyword("type"))
        is_integer = isinstance(kind, ir.Load) and kind.name == "int" and call.keyword("nargs") is None
        for argument in call.arguments:
            text = facts.constant(argument.value)
            if argument.keyword in (None, "dest") and isinstance(text, str):
                last = text.lstrip("-").replace("-", "_")
                (self._integers if is_integer else self._others).add(last)

    def _note_index(self, register: ir.Register | None, facts: Facts) -> None:
        if register is not None and facts.value(register).kind in (Kind.UNKNOWN, Kind.SCALAR, Kind.DEVICE):
            last = _last(facts.place(register))
            if last:
                self._indices.add(last)

    def _note_formatted(self, register: ir.Register | None, facts: Facts) -> None:
        written = Lookup.of(facts.body).put_together(register)
        if written is not None and written[0] == "cuda:" and len(written[1]) == 1:
            self._note_index(written[1][0], facts)

    @on_op(ir.Compare)
    def note_comparison(self, op: ir.Compare, facts: Facts) -> None:
        other = facts.constant(op.comparators[0])
        if other == -1 and type(other) is int:
            self._integers.add(_last(facts.place(op.left)))

    @on_op(ir.Store)
    def note_choice(self, op: ir.Store, facts: Facts) -> None:
        choice = facts.definition(op.value)
        if isinstance(choice, ir.Choice) and choice.shape == "or" and facts.constant(choice.values[-1]) in (-1,):
            place = facts.place(choice.values[0])
            if place:
                self._tests.append(_Test(choice, place, facts.body, "-1"))

    @on_file
    def tell(self, facts: Facts) -> Iterator[Report]:
        known = (self._indices & self._integers) - self._others
        if not known:
            return
        for body in facts.program.bodies:
            self._tests += _tests_in(body, facts, known)
        for test in self._tests:
            if _last(test.place) in known and _last(test.place) in _INDEX_NAMES:
                yield self.report(
                    test.op,
                    f"`{test.place}` may be 0, the index of the first GPU, which is false; write `{test.place} is not None`",
                    detail="It is a device index: the test takes the first GPU for no GPU, without an error.",
                    fix=lambda test=test: _fix(test),  # type: ignore[misc]
                )


def _last(place: str) -> str:
    return place.rpartition(".")[2].partition("[")[0]


def _tests_in(body: ir.Body, facts: Facts, known: set[str]) -> Iterator[_Test]:
    """The conditions of a body that test a known name as a flag."""
    definitions = facts.analysis.index_of(body).definitions
    for block in body.blocks:
        if block.test is None or len(block.successors) != 2:
            continue
        op = definitions[block.test]
        while isinstance(op, ir.Unary) and op.operator == "not":
            op = definitions[op.operand]
        if isinstance(op, (ir.Load, ir.Attribute)) and op.name in known and not _is_or(op, body):
            path = Lookup.of(body).path(op.dst)
            if path:  # a repair writes it down twice: what a call gives is left alone
                yield _Test(op, path, body)


def _is_or(op: ir.Load | ir.Attribute, body: ir.Body) -> bool:
    """True for the first operand of `gpu or -1`, which is reported as a whole."""
    return any(
        isinstance(other, ir.Choice) and other.shape == "or" and other.values[0] == op.dst
        for other in Lookup.of(body).readers(op.dst)
    )


def _fix(test: _Test) -> NodeFix | None:
    text = f"{test.place} is not None"
    if test.fallback:
        text = f"{test.place} if {test.place} is not None else {test.fallback}"
    edits = builders.replace_expression(test.op, f"({text})" if not test.fallback else text)
    return NodeFix(Ground.CHANGES_A_RUN, "Compare with None", edits)
