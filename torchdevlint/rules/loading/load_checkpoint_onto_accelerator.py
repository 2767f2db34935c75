"""TDL105."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.rules.destinations import only_loaded
from torchdevlint.rules.rule import INFO, Mention, NodeFix, Report, Rule, on_method


class LoadCheckpointOntoAccelerator(Rule):
    """Finds weights that are loaded onto the accelerator only to be copied there.

    ## What it does
    Reports `torch.load(f, map_location=device)` whose result goes to `load_state_dict` of a model that is on an accelerator already.

    ## Why is this bad?
    Two copies of the weights are in device memory until the dict goes. `load_state_dict` copies across devices, so a dict on the
    CPU serves as well. Off by default: the size of the file is not known.

    ## Example
        model.to(device)
        model.load_state_dict(torch.load(path, map_location=device))

    ## Use instead
        model.to(device)
        model.load_state_dict(torch.load(path, map_location="cpu"))

    ## When it stays silent
    `load_state_dict(..., assign=True)`, models that are not known to be on an accelerator.

    ## Fix safety
    Unsafe: the saving has not been measured on a GPU for this rule.

    ## Proof
    None: nothing fails.

    ## References
    torch.load, docstring ("to avoid GPU RAM surge").
    """

    code, name, severity = "TDL105", "load-checkpoint-onto-accelerator", INFO
    default = False
    fixable = "unsafe"

    @on_method("load_state_dict")
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        register = call.argument("state_dict", 0)
        state, model = facts.value(register), facts.value(facts.receiver(call))
        load = state.origin
        if (
            state.kind is not Kind.CHECKPOINT
            or not state.device.may_be_accelerator
            or not isinstance(load, ir.Call)
            or call.keyword("assign") is not None
            or model.kind is not Kind.MODULE
            or model.ref == "self"
            or not facts.frame.module_device(model).may_be_accelerator
        ):
            return
        is_part = isinstance(facts.definition(register), ir.Subscript)
        yield self.report(
            call,
            'these weights are on the accelerator already and are copied once more; load them with `map_location="cpu"`',
            detail="They were loaded on line {0}, and take twice the memory until the dict is freed. `load_state_dict` copies across devices.",
            related=(Mention(load, "here they are loaded"),),
            fix=lambda: None if is_part else _fix(load, facts),
        )


def _fix(load: ir.Call, facts: Facts) -> NodeFix | None:
    if not only_loaded(load, facts):
        return None
    edits = builders.replace_keyword_value(load, "map_location", '"cpu"')
    return NodeFix(Ground.CHANGES_A_RUN, "Load to the CPU", edits)
