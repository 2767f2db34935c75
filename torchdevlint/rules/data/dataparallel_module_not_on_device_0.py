"""TDL703."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.devices import CPU
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind, Value
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.rule import ERROR, Mention, NodeFix, Report, Rule, on_any_call, on_call
from torchdevlint.rules.structure import moves_itself

_DATA_PARALLEL = (
    "torch.nn.DataParallel",
    "torch.nn.parallel.DataParallel",
    "torch.nn.parallel.data_parallel.DataParallel",
)
_DISTRIBUTED = (
    "torch.nn.parallel.DistributedDataParallel",
    "torch.nn.parallel.distributed.DistributedDataParallel",
)


class DataparallelModuleNotOnDevice0(Rule):
    """Finds modules that are wrapped for several GPUs while their parameters are on the CPU.

    ## What it does
    Reports `nn.DataParallel(model)` where the model is made in the same function and neither it nor the wrapper is moved before the first call, and
    `DistributedDataParallel(model, device_ids=[...])` where the model was not moved before.

    ## Why is this bad?
    With more than one GPU `DataParallel` raises `RuntimeError: module must have its parameters and buffers on device cuda:0
    (device_ids[0]) but found one of them on device: cpu` (with exactly one it moves the module
    itself). `DistributedDataParallel` with `device_ids` raises `ValueError: DistributedDataParallel device_ids and output_device arguments
    only work with single-device/multiple-device GPU modules`.

    ## Example
        model = nn.DataParallel(Net())
        output = model(images)

    ## Use instead
        model = nn.DataParallel(Net()).to(device)

    ## When it stays silent
    The wrapper is moved (`DataParallel(m).cuda()`); the model comes from elsewhere, moves itself or is made on a device.

    ## Fix safety
    Unsafe until it ran on two GPUs.

    ## Proof
    Two devices are needed: the call of the wrapper raises on the virtual machine; after `.to(device)` it gives the CPU run's values.

    ## References
    torch/nn/parallel/data_parallel.py (forward); torch/nn/parallel/distributed.py (__init__).
    """

    code, name, severity = "TDL703", "dataparallel-module-not-on-device-0", ERROR
    needs = ("DataParallel", "DistributedDataParallel")
    fixable = "unsafe"

    def __init__(self) -> None:
        self._wrapped: dict[str, tuple[ir.Call, Value]] = {}

    @on_call(*_DATA_PARALLEL)
    def note_wrapper(self, call: ir.Call, facts: Facts) -> None:
        """Wrappers of modules that this function made."""
        module = facts.value(call.argument("module", 0))
        if _is_on_cpu(module, facts) and not Lookup.of(facts.body).attributes_of(call.dst) & {"to", "cuda"}:
            self._wrapped[module.ref] = (call, module)

    @on_any_call
    def check_use(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        if not self._wrapped:
            return
        wrapper = facts.value(call.function)
        if wrapper.kind is not Kind.MODULE or wrapper.symbol != "wrapper" or wrapper.ref not in self._wrapped:
            return
        construction, module = self._wrapped[wrapper.ref]
        if not _is_on_cpu(module, facts):
            return
        device = facts.nearest_device(construction)
        yield self.report(
            construction,
            f"`DataParallel` wraps a module on the CPU and is called on line {{0}}; add `.to({device or 'device'})`",
            detail='With more than one GPU the call raises "module must have its parameters and buffers on device cuda:0 (device_ids[0]) '
            'but found one of them on device: cpu"; with one GPU the wrapper moves the module itself.',
            related=(Mention(call, "here it is called"),),
            fix=lambda: _move(construction, device),
        )

    @on_call(*_DISTRIBUTED)
    def check_distributed(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        devices = call.argument("device_ids", 1)
        module = facts.value(call.argument("module", 0))
        if devices is None or facts.value(devices).kind is Kind.NONE or not _is_on_cpu(module, facts):
            return
        yield self.report(
            call,
            "`DistributedDataParallel` with `device_ids` gets a module on the CPU; move the module to its GPU first",
            detail='It raises "DistributedDataParallel device_ids and output_device arguments only work with '
            'single-device/multiple-device GPU modules".',
            related=(Mention(module.origin, "the module is made here"),) if module.origin is not None else (),
        )


def _is_on_cpu(module: Value, facts: Facts) -> bool:
    """True for a module that this function made and that nothing moved yet."""
    if module.kind is not Kind.MODULE or module.origin is None or not module.ref or module.attribute:
        return False
    if module.symbol in ("wrapper", "dispatched") or facts.mentions("set_default_device", "set_default_tensor_type"):
        return False
    if isinstance(module.origin, ir.Call) and any(a.keyword == "device" or a.star for a in module.origin.arguments):
        return False
    if isinstance(module.definition, ir.Class) and moves_itself(
        facts.analysis.summary_of(module.definition), facts.analysis
    ):
        return False
    # Containers and functions of other packages may hold or make modules that were moved.
    known = module.definition is not None or (
        module.symbol.startswith("torch.nn.") and "Sequential" not in module.symbol
    )
    return known and facts.frame.module_device(module) is CPU


def _move(construction: ir.Call, device: str | None) -> NodeFix | None:
    edits = builders.wrap_method(construction, "to", device) if device else None
    return NodeFix(Ground.CHANGES_A_RUN, f"Move the wrapper to `{device}`", edits)
