"""TDL807."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from torchdevlint.facts.cuda_alone import needs_cuda_anyway, requires
from torchdevlint.facts.demands import is_behind_cuda
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.once import once_per_file
from torchdevlint.facts.scopes import parameter_of, scopes_of
from torchdevlint.facts.stops import stops_where_it_fails
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import statements
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import deciding_tests
from torchdevlint.rules.literals import device_in_scope, spelled_accelerator
from torchdevlint.rules.rule import WARNING, NodeFix, Report, Rule, on_any_call, on_call, on_file
from torchdevlint.rules.structure import runs_for_each_gpu
from torchdevlint.stubs.knowledge.cuda_errors import RAISING
from torchdevlint.stubs.knowledge.functions import ASKING
from torchdevlint.stubs.knowledge.platforms import CUDA_PACKAGES, CUDA_RUNTIMES, KERNEL_LANGUAGES

_ONE_PROCESS_PER_GPU = ("init_process_group", "LOCAL_RANK", "local_rank", "deepspeed", "nccl", "get_rank", "world_size")


class _Seen(NamedTuple):
    op: ir.Call
    name: str
    place: str
    body: ir.Body
    has_device: bool  # a device is in scope: the function means to run on others as well
    is_chosen: bool  # the GPU's number comes from outside: who calls this, the command line or the environment chooses
    is_behind_cuda: bool  # something goes to CUDA before on every path
    is_offload: bool  # under a test for a hook that moves modules off the accelerator, which is set where there is one


class CudaApiUnguarded(Rule):
    """Finds calls of `torch.cuda` functions that raise where there is no CUDA, in programs that look whether there is.

    ## What it does
    Reports `torch.cuda.synchronize()`, `get_device_name`, `current_device`, `set_device`, `Event`, `Stream`, `nvtx`,
    `reset_peak_memory_stats` and the like (also of `torch.mps` and `torch.xpu`) outside of any availability test, in files that
    test for the accelerator elsewhere, and where a device is in scope (a parameter `device`, `self.device`) that may be another.

    ## Why is this bad?
    The file means to run without an accelerator, but this line raises there: `AssertionError: Torch not compiled with CUDA enabled`
    on a CPU build, `RuntimeError: Found no NVIDIA driver on your system` on a CUDA build without a GPU.

    ## Example
        device = "cuda" if torch.cuda.is_available() else "cpu"
        output = model(batch.to(device))
        torch.cuda.synchronize()

    ## Use instead
        device = "cuda" if torch.cuda.is_available() else "cpu"
        output = model(batch.to(device))
        if torch.cuda.is_available():
            torch.cuda.synchronize()

    ## When it stays silent
    A function that returns without CUDA (`is_available`, `device_count`, `empty_cache`, `manual_seed`, `memory_allocated`); a call behind a test, a
    flag, a `try` or a skip decorator, or in what its name or its file says is for CUDA.

    ## Fix safety
    A statement of its own is put under `if torch.cuda.is_available():`, which is safe: with CUDA nothing changes, without it the line
    raised. Other uses get no fix. (`torch.accelerator.synchronize()` is no repair: it raises without an accelerator as well.)

    ## Proof
    On a machine without CUDA the call raises; under the guard the program ends normally.

    ## References
    torch/cuda/__init__.py (_lazy_init, _cuda_setDevice), torch/cuda/streams.py, torch/cuda/nvtx.py, torch/mps/__init__.py.
    """

    code, name, severity = "TDL807", "cuda-api-unguarded", WARNING
    fixable = "sometimes"

    def __init__(self) -> None:
        self._seen: list[_Seen] = []
        self._calls: dict[str, bool] = {}  # function name -> every call of it is guarded
        self._asks = False
        self._places = False  # something goes to a literal accelerator: TDL801 tells that the file needs one
        self._demands = False

    @on_call(*ASKING)
    def note_test(self, call: ir.Call, facts: Facts) -> None:
        self._asks = True
        self._demands = self._demands or stops_where_it_fails(call, facts.body, facts.analysis)

    @on_any_call
    def note_guarded_call(self, call: ir.Call, facts: Facts) -> None:
        if facts.program.words.isdisjoint(("cuda", "mps", "xpu")):
            return
        written = facts.definition(call.function)
        called = Lookup.of(facts.body).called(call)
        is_move = called == "cuda" and isinstance(written, ir.Attribute) and facts.qualified(call.function) is None
        self._places = self._places or is_move or any(spelled_accelerator(a.value, facts) for a in call.arguments)
        if called in _functions(facts) and facts.qualified(call.function) is None:
            self._calls[called] = self._calls.get(called, True) and facts.guarded("cuda")

    @on_call(*RAISING)
    def note(self, call: ir.Call, facts: Facts) -> None:
        name = facts.qualified(call.function)
        if (
            name is None
            or facts.guarded(name.split(".")[1])
            or _speaks_of_gpu(facts.body)
            or runs_for_each_gpu(call, facts)
        ):
            return
        given = {argument.value for argument in call.arguments}
        if any(seen.body is facts.body and seen.op.dst in given for seen in self._seen):
            return  # `get_device_name(current_device())`: the inner one says it
        self._seen.append(
            _Seen(
                call,
                name,
                facts.place(call.function),
                facts.body,
                _has_device(facts),
                _is_chosen_outside(call, facts),
                is_behind_cuda(call, facts.body, facts.analysis),
                _is_offload(facts),
            )
        )

    @on_file
    def tell(self, facts: Facts) -> Iterator[Report]:
        if not self._seen or facts.imports(*KERNEL_LANGUAGES) or facts.mentions("pytestmark"):
            return
        if requires(facts.analysis, *CUDA_PACKAGES, *CUDA_RUNTIMES, "transformer_engine"):
            return
        is_first = not (self._asks or self._places or self._demands)
        for seen in self._seen:
            if self._calls.get(seen.body.name, False):
                continue  # the file calls the function under a guard alone
            test = _test_for(seen.name)
            yield self.report(
                seen.op,
                f"`{seen.name}()` fails without {seen.name.split('.')[1].upper()}; put it under `if {test}:`",
                detail=f"On a CPU build it raises {RAISING[seen.name]}, and nothing here asks for the device.",
                case=self._case(seen, facts, is_first=is_first),
                fix=lambda seen=seen: _fix(seen, facts),  # type: ignore[misc]
            )
            is_first = False

    def _case(self, seen: _Seen, facts: Facts, *, is_first: bool) -> str:
        """A file that never asks for a device gets one finding, at its first place: it is one decision."""
        one_per_gpu = facts.mentions(*_ONE_PROCESS_PER_GPU)
        works = seen.is_offload or seen.is_behind_cuda or needs_cuda_anyway(seen.body, facts.analysis, seen.op)
        is_decided = not (self._asks or seen.has_device or seen.is_chosen or is_first) or self._demands or one_per_gpu
        return (
            "the program stops without CUDA before, or the file has decided for it at another line"
            if works or is_decided
            else ""
        )


def _has_device(facts: Facts) -> bool:
    """True where a device is in scope that is no literal accelerator: the code means to run on others as well."""
    name = device_in_scope(None, facts)
    if name is None:
        return False
    value = facts.frame.lookup(name) if name.isidentifier() else None
    return value is None or not value.device.is_accelerator


def _is_chosen_outside(call: ir.Call, facts: Facts) -> bool:
    """True for the number of a GPU that an argument, the command line or the environment gives."""
    return any(_comes_from_outside(argument.value, facts) for argument in call.arguments)


def _comes_from_outside(register: ir.Register | None, facts: Facts, steps: int = 6) -> bool:
    written = facts.definition(register)
    if steps == 0 or written is None:
        return False
    if isinstance(written, ir.Load):
        if parameter_of(facts.body, written.name) is not None:
            return written.name not in ("self", "cls")
        stores = list(Lookup.of(facts.body).stores(written.name))
        return len(stores) == 1 and _comes_from_outside(stores[0].value, facts, steps - 1)
    if isinstance(written, ir.Call):
        callee = facts.callee(written)
        if callee.endswith(("parse_args", "parse_known_args", "os.getenv", "os.environ.get")):
            return True
        return callee == "builtins.int" and _comes_from_outside(written.positional(0), facts, steps - 1)
    if isinstance(written, (ir.Attribute, ir.Subscript)):
        is_environment = facts.qualified(written.object) == "os.environ"
        return is_environment or _comes_from_outside(written.object, facts, steps - 1)
    return False


def _is_offload(facts: Facts) -> bool:
    """True behind `if self.final_offload_hook is not None`: accelerate (accelerate/big_modeling.py, `cpu_offload_with_hook`) sets it for an accelerator."""
    tests = [facts.definition(test) for test in deciding_tests(facts.body, facts.block)]
    return any("offload_hook" in facts.place(test.left) for test in tests if isinstance(test, ir.Compare))


@once_per_file
def _functions(facts: Facts) -> frozenset[str]:
    """The names of the functions of the file."""
    return frozenset(body.name for body in facts.program.bodies if body.kind == "function")


def _speaks_of_gpu(body: ir.Body) -> bool:
    """True in a function or class that says by its name that it is for GPUs."""
    return any(
        word in one.qualname.lower()
        for one in scopes_of(body)
        if one.kind != "module"
        for word in ("cuda", "gpu", "nvidia", "nccl", "triton", "nvtx", "mps", "xpu", "ddp", "distributed")
    )


def _test_for(name: str) -> str:
    root = name.split(".")[1]
    return "torch.backends.mps.is_available()" if root == "mps" else f"torch.{root}.is_available()"


def _fix(seen: _Seen, facts: Facts) -> NodeFix | None:
    if not seen.place.startswith("torch."):
        return None  # the guard needs the name `torch`
    edits = statements.guard_statement(facts.program, seen.op, _test_for(seen.name))
    return NodeFix(Ground.OLD_LINE_RAISED, "Ask for the device first", edits)
