"""TDL405."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind, Value
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.rules.rule import WARNING, Mention, NodeFix, Report, Rule, on_method
from torchdevlint.rules.structure import literal_accelerator


class HfInputDeviceHardcoded(Rule):
    """Finds tokenizer outputs that go to a literal device while `device_map` decides where the model is.

    ## What it does
    Reports `tokenizer(..., return_tensors="pt").to("cuda")` in a scope with a model that was loaded with `device_map=`.

    ## Why is this bad?
    `device_map` puts the model on any device: on a machine without CUDA the literal raises while the model would run, and with a map to
    another GPU the first operation raises
    `Expected all tensors to be on the same device`. `model.device` is the device of the model's first parameters.

    ## Example
        model = AutoModelForCausalLM.from_pretrained(name, device_map="auto")
        inputs = tokenizer(text, return_tensors="pt").to("cuda")

    ## Use instead
        inputs = tokenizer(text, return_tensors="pt").to(model.device)

    ## When it stays silent
    The device comes from the model or from a variable; the line stands behind a test of the device; several such models are in scope.

    ## Fix safety
    Safe: `PreTrainedModel.device` is where the model takes its inputs.

    ## Proof
    Needs transformers, which is no dependency of this program: no proof is claimed.

    ## References
    transformers/modeling_utils.py (device).
    """

    code, name, severity = "TDL405", "hf-input-device-hardcoded", WARNING
    fixable = "safe"

    @on_method("to", "cuda")
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        value = facts.value(facts.receiver(call))
        if value.kind is not Kind.BATCH_ENCODING and not _is_encoded(value):
            return
        device = literal_accelerator(call, facts)
        models = _placed_models(facts)
        if device is None or len(models) != 1 or facts.guarded(device.type):
            return
        name, origin = models[0]
        yield self.report(
            call,
            f"these inputs go to `{device.name}`, but `device_map` decides where `{name}` is; use `{name}.device`",
            detail=f"`{name}` is placed on line {{0}}. Without `{device.name}` this line raises, and where the model is on another device its "
            'call raises "Expected all tensors to be on the same device".',
            related=(Mention(origin, "here the model is placed"),),
            fix=lambda: _follow(call, name),
        )


def _is_encoded(value: Value) -> bool:
    """True for a tensor that came out of a tokenizer."""
    return (
        value.kind is Kind.TENSOR
        and isinstance(value.origin, ir.Call)
        and value.origin.keyword("return_tensors") is not None
    )


def _placed_models(facts: Facts) -> list[tuple[str, ir.Call]]:
    """The models in scope that `device_map` placed, with their names."""
    found: dict[int, tuple[str, ir.Call]] = {}
    for frame in (facts.frame, facts.analysis.frame_of(facts.program.module)):
        for name, value in frame.all_held():
            made = value.origin if value.kind is Kind.MODULE and value.symbol == "dispatched" else None
            if isinstance(made, ir.Call) and made.keyword("device_map") is not None and name.isidentifier():
                found.setdefault(id(made), (name, made))
    return list(found.values())


def _follow(call: ir.Call, name: str) -> NodeFix | None:
    if len(call.arguments) > 1:
        return None
    edits = builders.replace_call_arguments(call, "to", f"{name}.device")
    return NodeFix(Ground.OLD_LINE_RAISED, f"Use `{name}.device`", edits, frozenset({f"{name}.device"}))
