"""TDL102."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.cuda_alone import is_cuda_only
from torchdevlint.facts.devices import Device
from torchdevlint.facts.facts import Facts
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.destinations import only_loaded
from torchdevlint.rules.literals import device_in_scope, is_conditional_test, spelled_accelerator
from torchdevlint.rules.rule import WARNING, NodeFix, Report, Rule, on_call, on_method
from torchdevlint.stubs.knowledge.functions import DEVICES_OF_LOADS


class LoadMapLocationHardcodedAccelerator(Rule):
    """Finds loads onto an accelerator that nobody looked for.

    ## What it does
    Reports a literal accelerator (`"cuda"`, `"cuda:1"`, `torch.device("mps")`, `lambda storage, location: storage.cuda()`) as `map_location` of
    `torch.load`, `torch.jit.load`, `load_state_dict_from_url` and `load_from_checkpoint`, or as `device` of safetensors, outside of a guard.

    ## Why is this bad?
    The load raises `RuntimeError: Attempting to deserialize object on a CUDA device` on every machine without that device, even
    when the file holds CPU tensors alone.

    ## Example
        state = torch.load("model.pt", map_location="cuda")
        model.load_state_dict(state)

    ## Use instead
        state = torch.load("model.pt", map_location="cpu")
        model.load_state_dict(state)

    ## When it stays silent
    Behind an availability test, an assertion or an early exit; in a `try` that catches RuntimeError; in tests that are skipped without a GPU;
    in files that need CUDA anyway (Triton, CuPy, CUDA extensions); for a device that is computed.

    ## Fix safety
    `"cpu"` is safe when the result goes only into `load_state_dict` (without `assign=True`) or is moved before any other use.
    Otherwise a device in scope is proposed, as an unsafe fix.

    ## Proof
    A file of CPU tensors, loaded with `map_location="cuda"`, raises on a machine without a GPU; with `"cpu"` it loads.

    ## References
    torch/serialization.py (`_validate_device`), torch/jit/_serialization.py (`validate_map_location`).
    """

    code, name, severity = "TDL102", "load-map-location-hardcoded-accelerator", WARNING
    fixable = "sometimes"

    @on_call(*DEVICES_OF_LOADS)
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        keyword, position = DEVICES_OF_LOADS[facts.callee(call)]
        yield from self._check(call, facts, keyword, position)

    @on_method("load_from_checkpoint")
    def check_lightning(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        yield from self._check(call, facts, "map_location", 1)

    def _check(self, call: ir.Call, facts: Facts, keyword: str, position: int) -> Iterator[Report]:
        register = call.argument(keyword, position)
        device = spelled_accelerator(register, facts) or _device_of_lambda(register, facts) or _current(register, facts)
        if device is None or facts.guarded(device.type) or is_cuda_only(facts.analysis) or is_conditional_test(facts):
            return
        nearest = device_in_scope(call, facts)

        def fix() -> NodeFix | None:
            is_copied = keyword == "map_location" and only_loaded(call, facts)
            text = '"cpu"' if is_copied else nearest
            if text is None:
                return None
            ground = Ground.COPIED_BY_RECEIVER if is_copied else Ground.CHANGES_A_RUN
            edits = builders.give_argument(call, keyword, position, text)
            return NodeFix(ground, f"Load with `{keyword}={text}`", edits)

        yield self.report(
            call,
            f'this load fails on machines without `{device.name}`; load with `{keyword}="cpu"`, or test for the device first',
            detail="It fails whatever the file holds, also with CPU tensors alone.",
            fix=fix,
        )


def _device_of_lambda(register: ir.Register | None, facts: Facts) -> Device | None:
    """CUDA for `lambda storage, location: storage.cuda(...)`, which moves every storage to it."""
    written = facts.definition(register)
    if not isinstance(written, ir.MakeFunction) or written.function.kind != "lambda":
        return None
    lookup = Lookup.of(written.function)
    results = (lookup.definition(op.value) for op in lookup.kind(ir.Return))
    is_moved = any(isinstance(result, ir.Call) and lookup.called(result) == "cuda" for result in results)
    return Device("acc", "cuda") if is_moved else None


def _current(register: ir.Register | None, facts: Facts) -> Device | None:
    """CUDA for `torch.device("cuda", torch.cuda.current_device())`, which asks for CUDA as the literal does."""
    written = facts.definition(register)
    if (
        not isinstance(written, ir.Call)
        or facts.callee(written) != "torch.device"
        or facts.constant(written.positional(0)) != "cuda"
    ):
        return None
    index = facts.definition(written.argument("index", 1))
    is_current = isinstance(index, ir.Call) and facts.callee(index) == "torch.cuda.current_device"
    return Device("acc", "cuda") if is_current else None
