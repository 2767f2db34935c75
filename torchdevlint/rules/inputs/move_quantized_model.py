"""TDL404."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.rules.rule import ERROR, Mention, NodeFix, Report, Rule, on_method, on_op

_CONFIGS = ("BitsAndBytesConfig", "GPTQConfig")
# What is given back moves and casts the parts of the model, and asks the model itself for nothing (torch/nn/modules/module.py, `_apply`).
_WRAPPERS = ("get_peft_model", "PeftModel.from_pretrained")


class MoveQuantizedModel(Rule):
    """Finds quantized models that are moved or cast in a way that they refuse.

    ## What it does
    Reports `.cuda()` on a model that was loaded in 8 bits, and `.half()`, `.float()` and `.to(torch.float16)` on a model that was loaded
    with a bitsandbytes or GPTQ configuration.

    ## Why is this bad?
    transformers raises `ValueError: Calling cuda() is not supported for 8-bit quantized models` and `ValueError: You cannot cast a
    bitsandbytes model in a new dtype`. The model is on its
    device already.

    ## Example
        model = AutoModelForCausalLM.from_pretrained(name, load_in_8bit=True)
        model.cuda()

    ## Use instead
        model = AutoModelForCausalLM.from_pretrained(name, load_in_8bit=True)

    ## When it stays silent
    `.to(device)` (allowed for 4 bits, and for 8 bits since bitsandbytes 0.48); `.cuda()` on a 4-bit model; configurations of other kinds; a
    model that peft has wrapped, whose own methods are not called.

    ## Fix safety
    Safe: the line raises on every machine, and the model is where its loader put it.

    ## Proof
    Needs bitsandbytes and a GPU: no proof is claimed.

    ## References
    transformers/modeling_utils.py (cuda, to, half, float).
    """

    code, name, severity = "TDL404", "move-quantized-model", ERROR
    needs = ("load_in_8bit", "load_in_4bit", "quantization_config")
    fixable = "safe"

    def __init__(self) -> None:
        self._configs: dict[tuple[int, str], bool] = {}
        self._wrapped: set[tuple[int, str]] = set()

    @on_op(ir.Store)
    def note_config(self, op: ir.Store, facts: Facts) -> None:
        """Names that hold a quantization configuration, or a model inside of another."""
        written = facts.definition(op.value)
        key = id(facts.body), op.name
        self._wrapped.discard(key)
        if isinstance(written, ir.Call):
            if (facts.qualified(written.function) or "").endswith(_WRAPPERS):
                self._wrapped.add(key)
            found = _config(written, facts)
            if found is not None:
                self._configs[key] = found

    @on_method("cuda", "half", "float", "bfloat16", "to")
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        value = facts.value(facts.receiver(call))
        origin = value.origin
        if (id(facts.body), facts.place(facts.receiver(call))) in self._wrapped:
            return
        if (
            value.kind is not Kind.MODULE
            or value.symbol != "dispatched"
            or not isinstance(origin, ir.Call)
            or not facts.makes(origin)
        ):
            return
        eight = self._eight_bits(origin, facts)
        method = facts.callee(call)
        if eight is None or (method == ".cuda" and not eight) or (method == ".to" and not _is_cast(call, facts)):
            return
        text = (
            '"Calling `cuda()` is not supported for `8-bit` quantized models"'
            if method == ".cuda"
            else '"You cannot cast a bitsandbytes model in a new dtype"'
        )
        yield self.report(
            call,
            f"the quantized model of line {{0}} refuses `{method}()`; remove the call",
            detail=f"It raises ValueError ({text}). The loader has placed the model.",
            related=(Mention(origin, "here it is loaded"),),
            fix=lambda: NodeFix(Ground.OLD_LINE_RAISED, "Remove the call", builders.undo_method(facts.program, call)),
        )

    def _eight_bits(self, origin: ir.Call, facts: Facts) -> bool | None:
        """True for a model in 8 bits, False for another quantization, None when it is not known to be quantized."""
        if facts.constant(origin.keyword("load_in_8bit")) is True:
            return True
        if facts.constant(origin.keyword("load_in_4bit")) is True:
            return False
        register = origin.keyword("quantization_config")
        written = facts.definition(register)
        if isinstance(written, ir.Call):
            return _config(written, facts)
        if not isinstance(written, ir.Load):
            return None
        scope = facts.body if written.name in facts.body.local_names else facts.program.module
        return self._configs.get((id(scope), written.name))


def _config(call: ir.Call, facts: Facts) -> bool | None:
    """What a configuration asks for: True for 8 bits, False for others, None for a call that makes no configuration."""
    if not (facts.qualified(call.function) or "").endswith(_CONFIGS):
        return None
    return facts.constant(call.keyword("load_in_8bit")) is True


def _is_cast(call: ir.Call, facts: Facts) -> bool:
    register = call.argument("dtype", 0)
    return register is not None and len(call.arguments) == 1 and facts.frame.is_dtype(register)
