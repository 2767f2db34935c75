"""TDL104."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.order import deciding_tests
from torchdevlint.rules.rule import WARNING, NodeFix, Report, Rule, on_call

_DISTRIBUTED = (
    "init_process_group",
    "DistributedDataParallel",
    "DDP",
    "FullyShardedDataParallel",
    "FSDP",
    "fully_shard",
)
_RANK_WORDS = ("rank", "is_main", "is_master", "main_process", "primary", "is_chief")


class LoadSameDeviceOnEveryRank(Rule):
    """Finds loads that bring every process's copy to one GPU.

    ## What it does
    In files that run one process per GPU, reports `torch.load(f, map_location="cuda:0")`, and `map_location="cuda"` where nothing
    sets the current device (`torch.cuda.set_device`): "cuda" means the current device, which is GPU 0 in every process until then.
    (A load without map_location is TDL101's.)

    ## Why is this bad?
    Nothing fails at first: each process opens a context on GPU 0 and keeps a copy of the checkpoint there, until GPU 0 alone runs
    out of memory.

    ## Example
        dist.init_process_group("nccl")
        state = torch.load(path, map_location="cuda:0")

    ## Use instead
        state = torch.load(path, map_location="cpu")

    ## When it stays silent
    `map_location="cpu"`, values that depend on the rank, loads that one rank alone makes, files that use accelerate or Lightning.

    ## Fix safety
    Unsafe: tensors that are used without `load_state_dict` stay on the CPU, and nobody has measured it on two GPUs for this rule.

    ## Proof
    None here: it needs two processes and two GPUs.

    ## References
    torch/serialization.py (_validate_device, _get_device_index: the current device).
    """

    code, name, severity = "TDL104", "load-same-device-on-every-rank", WARNING
    fixable = "unsafe"

    @on_call("torch.load", "torch.serialization.load")
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        register = call.argument("map_location", 1)
        if register is None or not facts.mentions(*_DISTRIBUTED):
            return
        if facts.imports("accelerate", "lightning", "pytorch_lightning") or _on_one_rank(facts):
            return
        device = facts.device_of(register)
        written = facts.definition(register)
        if isinstance(written, ir.Constant) and not isinstance(written.value, str):
            return  # an int is TDL103's
        if (
            device.place != "acc"
            or isinstance(written, ir.FormattedString)
            or (isinstance(written, ir.Call) and len(written.arguments) > 1)
        ):
            return  # the index may be the rank
        if device.name == "cuda" and not _is_bare(register, facts):
            return
        if device.name not in ("cuda", "cuda:0") or (device.name == "cuda" and facts.mentions("set_device")):
            return
        where = "the current GPU, which is GPU 0 in each of them" if device.name == "cuda" else "GPU 0"
        yield self.report(
            call,
            'each process loads its copy to GPU 0; pass `map_location="cpu"`, or the device of the rank',
            detail=f"This load goes to {where}: one context and one copy per process there, until it runs out of memory.",
            fix=lambda: NodeFix(
                Ground.CHANGES_A_RUN, "Load to the CPU", builders.give_argument(call, "map_location", 1, '"cpu"')
            ),
        )


def _is_bare(register: ir.Register, facts: Facts) -> bool:
    """True when "cuda" is all that is said: neither a rank nor an index is glued to it."""
    return facts.constant(register) == "cuda" or any(text == "cuda" for text in facts.devices_in(register))


def _on_one_rank(facts: Facts) -> bool:
    """True where a test of the rank stands before the load."""
    return any(_speaks_of_rank(test, facts) for test in deciding_tests(facts.body, facts.block))


def _speaks_of_rank(register: ir.Register, facts: Facts) -> bool:
    op = facts.definition(register)
    while isinstance(op, ir.Unary):
        op = facts.definition(op.operand)
    parts = [op.left, *op.comparators] if isinstance(op, ir.Compare) else [register]
    for part in parts:
        written = facts.definition(part)
        if isinstance(written, ir.Call):
            written = facts.definition(written.function)
        name = written.name if isinstance(written, (ir.Load, ir.Attribute)) else ""
        if any(word in name.lower() for word in _RANK_WORDS):
            return True
    return False
