"""TDL521."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.rules.rule import WARNING, NodeFix, Report, Rule, on_method


class TypeStringForPlacement(Rule):
    """Finds CPU tensors that are brought to another tensor's device by the name of its type.

    ## What it does
    Reports `torch.zeros(n).type(x.type())`, a tensor made on the CPU and cast to the type of `x`, in files where more than one GPU
    is in play (DataParallel, process groups, device counts).

    ## Why is this bad?
    The type is a string such as `torch.cuda.FloatTensor` and says nothing of the index: a CPU tensor goes to the CURRENT GPU, not to that
    of `x`. For an `x` on another GPU the next operation raises `Expected all tensors to be on the same device`. (A tensor that is on a GPU
    already keeps its index, and so does `y.type_as(x)`.)

    ## Example
        window = torch.ones(size).type(x.type())

    ## Use instead
        window = torch.ones(size).to(x)

    ## When it stays silent
    Programs with one GPU, `type_as`, `.type(dtype)`, tensors that are not known to be on the CPU.

    ## Fix safety
    Unsafe: with several GPUs the result lies elsewhere than before (where it was meant to lie).

    ## Proof
    On a machine with two GPUs the operation on the second raises; with `.to(x)` it gives the CPU's values.

    ## References
    torch/csrc/autograd/python_variable_methods.cpp (THPVariable_type, dispatch_to with the current device).
    """

    code, name, severity = "TDL521", "type-string-for-placement", WARNING
    fixable = "unsafe"

    @on_method("type")
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        register = call.argument("dtype", 0)
        inner = facts.definition(register)
        if (
            not isinstance(inner, ir.Call)
            or facts.callee(inner) != ".type"
            or inner.arguments
            or not _several_devices(facts)
        ):
            return
        if not facts.value(facts.receiver(call)).is_fresh_cpu:
            return  # a tensor on a GPU keeps its index
        other = facts.receiver(inner)
        place = facts.place(other)
        if not place or facts.value(other).kind not in (Kind.TENSOR, Kind.UNKNOWN):
            return
        yield self.report(
            call,
            f"`.type({place}.type())` goes to the current GPU, not to that of `{place}`; write `.to({place})`",
            detail="This tensor is on the CPU. Where the current GPU is another one the next operation raises "
            '"Expected all tensors to be on the same device".',
            fix=lambda: NodeFix(
                Ground.CHANGES_A_RUN, f"Write `.to({place})`", builders.replace_call_arguments(call, "to", place)
            ),
        )


def _several_devices(facts: Facts) -> bool:
    """True where the program is about more than one GPU."""
    return facts.mentions(
        "DataParallel", "DistributedDataParallel", "device_ids", "local_rank", "init_process_group", "device_count"
    )
