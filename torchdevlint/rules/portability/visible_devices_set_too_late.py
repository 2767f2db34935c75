"""TDL809."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from torchdevlint.facts.facts import Facts
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import follows, import_time_blocks
from torchdevlint.rules.rule import ERROR, Mention, Report, Rule, on_any_call, on_file, on_op
from torchdevlint.rules.structure import variable_set
from torchdevlint.stubs.knowledge.cuda_errors import RAISING
from torchdevlint.stubs.knowledge.platforms import VISIBLE_DEVICES

# Calls that start the driver. `device_count` may ask NVML, seeds and statistics wait for the first real use.
_TOUCHING = frozenset(name for name in RAISING if name.startswith("torch.cuda.") and ".nvtx." not in name) | {
    "torch.cuda.is_available",
    "torch.cuda.is_bf16_supported",
}
# Programs that start workers set the variable for them.
_START_WORKERS = ("spawn", "Process", "ProcessPoolExecutor", "Pool", "run_module", "srun")
_START_PROGRAMS = {"os": ("system", "exec", "posix_spawn", "popen"), "subprocess": ("",)}


class _Place(NamedTuple):
    body: ir.Body
    block: ir.Block
    op: ir.Op
    what: str


class VisibleDevicesSetTooLate(Rule):
    """Finds `CUDA_VISIBLE_DEVICES` set by a program that has started the CUDA driver already.

    ## What it does
    Reports assignments to `os.environ["CUDA_VISIBLE_DEVICES"]` (and `CUDA_DEVICE_ORDER`, `HIP_VISIBLE_DEVICES`) behind a call that
    starts the driver: `torch.cuda.is_available()`, `.cuda()`, `.to("cuda")`, a factory with `device="cuda"`,
    `torch.cuda.set_device`, ...; in a function, also behind such a call at the top level of the module.

    ## Why is this bad?
    The driver reads the variable once, when it starts. Later assignments change nothing, without a word: the program runs on the
    wrong GPU, or on all of them. Importing torch does not start the driver, so an assignment after the import and before the first
    such call works.

    ## Example
        device = "cuda" if torch.cuda.is_available() else "cpu"
        os.environ["CUDA_VISIBLE_DEVICES"] = "1"

    ## Use instead
        os.environ["CUDA_VISIBLE_DEVICES"] = "1"
        device = "cuda" if torch.cuda.is_available() else "cpu"

    ## When it stays silent
    Assignments before any such call, also after `import torch`; `torch.device("cuda")` and `device_count()` alone; environments of
    child processes.

    ## Fix safety
    There is no automatic fix.

    ## Proof
    None on a virtual machine: it needs the real driver.

    ## References
    torch/cuda/__init__.py (device_count, is_available); pytorch issues 9158, 40618, 80876.
    """

    code, name, severity = "TDL809", "visible-devices-set-too-late", ERROR
    needs = ("environ", "putenv")

    def __init__(self) -> None:
        self._touches: list[_Place] = []
        self._sets: list[_Place] = []

    @on_any_call
    def note_call(self, call: ir.Call, facts: Facts) -> None:
        if facts.program.words.isdisjoint(("environ", "putenv")):
            return
        name = facts.callee(call)
        if _touches(call, name, facts):
            self._note(self._touches, call, name.removeprefix("."), facts)
        elif variable_set(call, facts) in VISIBLE_DEVICES:
            self._note(self._sets, call, variable_set(call, facts), facts)
        elif name == "os.environ.update":
            for argument in call.arguments:
                for key, _ in facts.value(argument.value).entries:
                    if key in VISIBLE_DEVICES:
                        self._note(self._sets, call, str(key), facts)
                if argument.keyword in VISIBLE_DEVICES:
                    self._note(self._sets, call, str(argument.keyword), facts)

    @on_op(ir.StoreSubscript)
    def note_store(self, op: ir.StoreSubscript, facts: Facts) -> None:
        if variable_set(op, facts) in VISIBLE_DEVICES:
            self._note(self._sets, op, variable_set(op, facts), facts)

    def _note(self, places: list[_Place], op: ir.Op, what: str, facts: Facts) -> None:
        places.append(_Place(facts.body, facts.block, op, what))

    @on_file
    def tell(self, facts: Facts) -> Iterator[Report]:
        if not self._sets or facts.mentions(*_START_WORKERS):
            return
        for place in self._sets:
            if _starts_program(place.body, facts):
                continue
            touch = next((touch for touch in self._touches if _runs_before(touch, place)), None)
            if touch is None:
                continue
            yield self.report(
                place.op,
                f"`{place.what}` has no effect after `{touch.what}` on line {{0}}; set it before that call",
                detail="That call has started the CUDA driver, which reads the variable once: the program goes on with the GPUs that were "
                "visible then.",
                related=(Mention(touch.op, "here the driver starts"),),
            )


def _starts_program(body: ir.Body, facts: Facts) -> bool:
    """True for a body that starts another program: the variable is for that one."""
    return any(
        op.name.startswith(_START_PROGRAMS.get(facts.analysis.spelled(op.object, body), ()))
        for op in Lookup.of(body).kind(ir.Attribute)
    )


def _touches(call: ir.Call, name: str, facts: Facts) -> bool:
    if name in _TOUCHING:
        return True
    target = facts.placed_on(call)
    is_move = name in (".cuda", ".to")
    return target is not None and target.type == "cuda" and not (is_move and facts.guarded("cuda"))


def _runs_before(touch: _Place, place: _Place) -> bool:
    if touch.body is place.body:
        if place.block.loops and touch.block.loops and place.block.loops[0] == touch.block.loops[0]:
            return touch.block is place.block and touch.block.ops.index(touch.op) < place.block.ops.index(place.op)
        return follows(place.body, (touch.block, touch.op), (place.block, place.op))
    # A function runs after the module's own code.
    return (
        touch.body.kind == "module"
        and place.body.kind == "function"
        and touch.block.index in import_time_blocks(touch.body)
    )
