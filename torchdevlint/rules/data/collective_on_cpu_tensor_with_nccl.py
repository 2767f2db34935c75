"""TDL704."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import NOTHING, Value
from torchdevlint.fixes.grounds import Ground
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.rule import ERROR, Mention, NodeFix, Report, Rule, on_call, on_file
from torchdevlint.rules.structure import tensors_within
from torchdevlint.rules.wording import give_device
from torchdevlint.stubs.knowledge import functions

_PREFIX = "torch.distributed."
# Collectives by the positions of their tensor arguments; torch/distributed/distributed_c10d.py.
_COLLECTIVES = {
    "all_reduce": (0,),
    "broadcast": (0,),
    "reduce": (0,),
    "all_gather": (0, 1),
    "all_gather_into_tensor": (0, 1),
    "gather": (0, 1),
    "scatter": (0, 1),
    "reduce_scatter": (0, 1),
    "reduce_scatter_tensor": (0, 1),
    "all_to_all": (0, 1),
    "all_to_all_single": (0, 1),
    "send": (0,),
    "recv": (0,),
    "isend": (0,),
    "irecv": (0,),
}


class CollectiveOnCpuTensorWithNccl(Rule):
    """Finds collectives on CPU tensors in programs whose process group is NCCL.

    ## What it does
    Follows tensors that are made without a device into `torch.distributed.all_reduce`, `broadcast`, `all_gather`, ... in a file that calls
    `init_process_group("nccl")`, and, as a warning, in a file that places tensors on devices and leaves the group to its caller.

    ## Why is this bad?
    An NCCL process group has no CPU backend: the call raises `RuntimeError: No backend type associated with device type cpu` (older releases:
    `Tensors must be CUDA and dense`).

    ## Example
        dist.init_process_group("nccl")
        total = torch.tensor([loss.item(), count])
        dist.all_reduce(total)

    ## Use instead
        total = torch.tensor([loss.item(), count], device=device)
        dist.all_reduce(total)

    ## When it stays silent
    The backend is not spelled, is "cpu:gloo,cuda:nccl" or is left to PyTorch (which registers both); another group of the file uses Gloo
    or MPI; `*_object` collectives.

    ## Fix safety
    Unsafe until it ran on two GPUs: it changes where the result is.

    ## Proof
    Needs a process group over two GPUs, which `prove` does not start: no proof is claimed.

    ## References
    torch/distributed/distributed_c10d.py; mistral-inference #252, pytorch/examples #1034.
    """

    code, name, severity = "TDL704", "collective-on-cpu-tensor-with-nccl", ERROR
    fixable = "unsafe"

    def __init__(self) -> None:
        self._found: list[tuple[ir.Call, Value, str, str | None, bool]] = []
        self._backends: set[str] = set()

    @on_call(_PREFIX + "init_process_group", _PREFIX + "new_group", _PREFIX + "distributed_c10d.init_process_group")
    def note_group(self, call: ir.Call, facts: Facts) -> None:
        """The backends that the file asks for."""
        new_group = facts.callee(call).endswith("new_group")
        register = call.keyword("backend") if new_group else call.argument("backend", 0)
        constant = facts.constant(register) if register is not None else NOTHING
        if isinstance(constant, str):
            self._backends.add(constant)
        elif not new_group:
            self._backends.add("?")

    @on_call(*(_PREFIX + name for name in _COLLECTIVES))
    def note_collective(self, call: ir.Call, facts: Facts) -> None:
        """Collectives on tensors that were made on the CPU."""
        name = facts.callee(call)
        for position in _COLLECTIVES[name.rpartition(".")[2]]:
            register = call.positional(position)
            if register is None and position == 0:
                register = call.keyword("tensor")
            for value in tensors_within(facts.value(register)):
                if not value.is_fresh_cpu or value.others or not isinstance(value.origin, ir.Call):
                    continue
                local = facts.makes(value.origin)
                takes = local and facts.callee(value.origin) in functions.FACTORIES
                device = facts.nearest_device(value.origin if local else call)
                self._found.append((call, value, name, device, takes))
                return

    @on_file
    def check(self, facts: Facts) -> Iterator[Report]:
        if self._backends - {"nccl"}:
            return
        here = bool(self._backends)
        if not here and not _speaks_of_devices(facts):
            return
        group = "this file's process group is NCCL" if here else "the process group on GPUs is NCCL"
        for call, value, name, device, takes in self._found:
            origin = value.origin
            assert isinstance(origin, ir.Call)
            short = name.rpartition(".")[2]
            yield self.report(
                call,
                f"`{short}` gets a CPU tensor, which NCCL refuses; create the tensor with `device={device or '...'}`",
                detail=f"The tensor is made on line {{0}}, and {group}, which has no CPU backend: the call raises "
                '"No backend type associated with device type cpu".',
                case="" if here else "no process group is started in the file",
                related=(Mention(origin, "here the CPU tensor is made"),),
                fix=lambda origin=origin, device=device, takes=takes: _fix(origin, device if takes else None),  # type: ignore[misc]
            )


def _speaks_of_devices(facts: Facts) -> bool:
    """True for files that place tensors themselves, and not for a host backend."""
    words = facts.program.words | facts.program.imported
    if not facts.mentions("device", "cuda") or any("gloo" in word for word in words):
        return False
    constants = (op for body in facts.program.bodies for op in Lookup.of(body).kind(ir.Constant))
    return not any(op.value in ("gloo", "mpi") for op in constants)


def _fix(origin: ir.Call, device: str | None) -> NodeFix | None:
    if device is None or origin.keyword("device") is not None:
        return None
    return give_device(origin, device, Ground.CHANGES_A_RUN)
