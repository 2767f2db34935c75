"""TDL101."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.contents import holds_checkpoint, is_own_cache, is_saved_from_host, names_data, stays_in_program
from torchdevlint.facts.cuda_alone import imports_cuda_alone
from torchdevlint.facts.demands import is_called_behind_cuda, is_of_cuda_alone
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.loads import is_just_written, loads, path_words, settings_of
from torchdevlint.facts.uses import Use
from torchdevlint.facts.values import NOTHING
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.infer.checkpoints import PLAIN_STATE
from torchdevlint.infer.origins import is_of_this_run, is_published
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.roles import is_test_function
from torchdevlint.rules.destinations import is_assigned, only_loaded
from torchdevlint.rules.literals import device_in_scope
from torchdevlint.rules.rule import WARNING, NodeFix, Report, Rule, on_call, on_file
from torchdevlint.stubs.knowledge.functions import LOADS

_RANKS = ("rank", "local_rank", "get_rank", "is_main_process", "barrier")  # words of programs of several processes
_PROCESSES = ("init_process_group", "local_rank", "DistributedDataParallel")
_RECEIVED = frozenset({"numpy", "tobytes", "content"})
_NO_STORAGE = (
    "torch._subclasses.FakeTensorMode",
    "torch._subclasses.fake_tensor.FakeTensorMode",
    "torch.serialization.skip_data",
)


class LoadWithoutMapLocation(Rule):
    """Finds `torch.load` calls that restore tensors to the device they were saved from.

    ## What it does
    Reports `torch.load(...)`, also under an alias or in `functools.partial`, without `map_location` or with `map_location=None`.

    ## Why is this bad?
    Every storage in a checkpoint carries the device that it was saved from. A checkpoint written on a GPU raises `RuntimeError: Attempting
    to deserialize object on a CUDA device` on a machine without one, and `cuda:1` does so on a machine with one GPU. Where the device
    exists the tensors land on it unasked: one more CUDA context, and memory on somebody else's GPU. (A file with CPU tensors alone loads
    everywhere.)

    ## Example
        model.load_state_dict(torch.load("model.pt"))

    ## Use instead
        model.load_state_dict(torch.load("model.pt", map_location="cpu"))

    `load_state_dict` copies the values to wherever the model's parameters are.

    ## When it stays silent
    `map_location` is given, or may be (`*args`, `**kwargs`); the file is a `.safetensors`, prepared data or the state of random generators;
    the same function has just written it.

    ## Fix safety
    `map_location="cpu"` is safe when the result goes only into `load_state_dict` (without `assign=True`) or is moved before any other use. Else
    it is unsafe, as the tensors would be on another device than before; then a device in scope is proposed. None is made in the
    `except TypeError` branch that keeps an old version of PyTorch working. `weights_only` is never touched.

    ## Proof
    A checkpoint saved from `cuda:1` raises on a machine with one GPU and on one without any; mapped to the CPU it loads on both.

    ## References
    torch/serialization.py (`_deserialize`, `_validate_device`, `load`).
    """

    code, name, severity = "TDL101", "load-without-map-location", WARNING
    fixable = "sometimes"

    def __init__(self) -> None:
        self._loads: list[tuple[ir.Call, Facts, str]] = []

    @on_call(*LOADS)
    def check(self, call: ir.Call, facts: Facts) -> None:
        """Loads without a device, of what may hold tensors from anywhere."""
        if call.has_splat or call.positional_count >= 2 or not _is_missing(call, facts):
            return
        if _is_safetensors(call.argument("f", 0), facts) or facts.under(*_NO_STORAGE):
            return
        if _just_written(call, facts) or _other_branch_maps(call, facts):
            return
        if names_data(call, facts) or is_own_cache(call, facts):
            return
        if (
            (is_test_function(facts.body) and not facts.imports("argparse"))
            or _is_dataset(facts)
            or _is_received(call, facts)
        ):
            return
        self._note(call, facts, _case(call, facts))

    @on_call("functools.partial")
    def check_partial(self, call: ir.Call, facts: Facts) -> None:
        """Functions that are made of such a load."""
        if facts.qualified(call.positional(0)) not in LOADS:
            return
        if not call.has_splat and call.positional_count < 3 and _is_missing(call, facts):
            self._note(call, facts, "")

    def _note(self, call: ir.Call, facts: Facts, case: str) -> None:
        if not facts.expects_error:
            self._loads.append((call, facts, case))

    @on_file
    def report_loads(self, _: Facts) -> Iterator[Report]:
        for call, facts, case in self._loads:
            if not _is_plain_state(call, facts):
                yield self._reported(call, facts, case)

    def _reported(self, call: ir.Call, facts: Facts, case: str) -> Report:
        device = device_in_scope(call, facts)
        is_fallback = facts.in_handler_of("TypeError")

        def fix() -> NodeFix | list[NodeFix] | None:
            if is_fallback:
                return None
            if facts.callee(call) in LOADS and only_loaded(call, facts):
                return _map(call, '"cpu"', Ground.COPIED_BY_RECEIVER)
            places = (device, None if is_assigned(call, facts) else '"cpu"')
            mapped = (_map(call, text, Ground.CHANGES_A_RUN) for text in places if text is not None)
            return [fix for fix in mapped if fix is not None]

        return self.report(
            call,
            '`torch.load` restores tensors to the device they were saved from; pass `map_location="cpu"` or a device',
            detail="A checkpoint that was saved from a GPU fails to load on a machine without that GPU, and takes memory on it where there is one.",
            case=case,
            fix=fix,
        )


def _case(call: ir.Call, facts: Facts) -> str:
    """The row of the policy: what holds weights that a GPU may have saved has none of its own."""
    if not holds_checkpoint(call, facts):
        return "nothing tells that the file holds weights"
    if is_published(loads(call, facts)):
        return "it is published"
    if _needs_cuda_anyway(call, facts):
        return "CUDA works where it is loaded"
    if is_of_this_run(loads(call, facts)):
        return "the same run saved it"
    if _holds_engine(call, facts):
        return "it holds the bytes of an engine"
    return "the CPU saved it" if is_saved_from_host(call, facts) else ""


def _needs_cuda_anyway(call: ir.Call, facts: Facts) -> bool:
    """True where the program stops without CUDA anyway, before the load or behind it, and the tensors do not stay on the GPU beside what takes them.

    In a program of several processes each would still load onto the GPU that saved.
    """
    return not facts.mentions(*_PROCESSES) and (
        imports_cuda_alone(facts.analysis)
        or is_called_behind_cuda(call, facts.body, facts.analysis, *_PROCESSES)
        or (not stays_in_program(call, facts) and is_of_cuda_alone(call, facts.body, facts.analysis, *_PROCESSES))
    )


def _holds_engine(call: ir.Call, facts: Facts) -> bool:
    """True for what only torch2trt's TRTModule gets: its state is the bytes of an engine and names (torch2trt/trt_module.py)."""
    return facts.mentions("TRTModule") and any("trt" in word.lower() for word in path_words(call, facts))


def _is_plain_state(call: ir.Call, facts: Facts) -> bool:
    """True when the result goes only into a scaler or scheduler: their state dicts hold plain numbers (torch/amp/grad_scaler.py)."""
    uses = [use for use in facts.uses(call) if use.role not in ("subscript", "named", "compared")]
    return bool(uses) and all(
        use.callee == ".load_state_dict" and PLAIN_STATE.search(_receiver_name(use, facts)) for use in uses
    )


def _receiver_name(use: Use, facts: Facts) -> str:
    """The last name of what a method is called on."""
    method = facts.definition(use.op.function) if isinstance(use.op, ir.Call) else None
    receiver = facts.definition(method.object) if isinstance(method, ir.Attribute) else None
    return receiver.name if isinstance(receiver, (ir.Load, ir.Attribute)) else ""


def _is_missing(call: ir.Call, facts: Facts) -> bool:
    register = call.keyword("map_location")
    return register is None or facts.constant(register) is None


def _map(call: ir.Call, text: str, ground: Ground) -> NodeFix | None:
    if call.keyword("map_location") is None:
        edits = builders.add_keyword(call, "map_location", text)
    else:
        edits = builders.replace_keyword_value(call, "map_location", text)
    return NodeFix(ground, f"Load with `map_location={text}`", edits)


def _is_safetensors(path: ir.Register | None, facts: Facts) -> bool:
    """True for a literal path, a path joined from a literal file name, or a setting of the project, that ends in .safetensors."""
    constant = facts.constant(path)
    written = facts.definition(path)
    if (
        constant is NOTHING
        and isinstance(written, ir.Call)
        and facts.callee(written) == "os.path.join"
        and written.arguments
    ):
        constant = facts.constant(written.arguments[-1].value)
    given = [constant] if isinstance(constant, str) else settings_of(path, facts)
    return bool(given) and all(isinstance(text, str) and text.endswith(".safetensors") for text in given)


def _just_written(call: ir.Call, facts: Facts) -> bool:
    """True when this body saved to the very file or buffer before: from the CPU, or by the one process that there is."""
    return is_just_written(call, facts, on_host=facts.mentions(*_RANKS))


def _is_dataset(facts: Facts) -> bool:
    """True in a data set, whose files hold samples that the CPU made."""
    summary = facts.class_summary
    names = [facts.body.name, *((summary.cls.name, *summary.bases) if summary is not None else ())]
    return any(name.lower().endswith(("dataset", "datamodule")) for name in names)


def _is_received(call: ir.Call, facts: Facts) -> bool:
    """True for a buffer over an array's memory, or over a service's answer: what another process sent."""
    return not _RECEIVED.isdisjoint(path_words(call, facts))


def _other_branch_maps(call: ir.Call, facts: Facts) -> bool:
    """True for `if torch.cuda.is_available(): load(p) else: load(p, map_location=...)`."""
    if not facts.guarded("cuda"):
        return False
    place = facts.place(call.argument("f", 0))
    return any(
        op is not call
        and facts.analysis.spelled(op.function, facts.body) in LOADS
        and (op.keyword("map_location") is not None or op.positional_count > 1)
        and facts.place(op.argument("f", 0)) == place
        for op in Lookup.of(facts.body).kind(ir.Call)
    )
