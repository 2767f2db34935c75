"""TDL107."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.rules.destinations import only_loaded
from torchdevlint.rules.rule import INFO, NodeFix, Report, Rule, on_call

_OWN_WEIGHTS = ("https://download.pytorch.org/", "https://s3.amazonaws.com/pytorch/")


class HubLoadUrlWithoutMapLocation(Rule):
    """Finds downloads of weights that are restored to the device their publisher saved them from.

    ## What it does
    Reports `torch.hub.load_state_dict_from_url(url)` and `model_zoo.load_url(url)` without `map_location`.

    ## Why is this bad?
    The call gives `map_location=None` to `torch.load`. If the publisher saved from a GPU, a machine without one raises
    `RuntimeError: Attempting to deserialize object on a CUDA device`. Most published weights are on the CPU, so this is off by
    default.

    ## Example
        state = torch.hub.load_state_dict_from_url(url)

    ## Use instead
        state = torch.hub.load_state_dict_from_url(url, map_location="cpu")

    ## When it stays silent
    `**kwargs`; a literal URL of PyTorch's own weights.

    ## Fix safety
    Safe where the result goes straight into `load_state_dict`, which copies to the model's own device; else unsafe.

    ## Proof
    As TDL101, on a file that was saved from an accelerator.

    ## References
    torch/hub.py (load_state_dict_from_url).
    """

    code, name, severity = "TDL107", "hub-load-url-without-map-location", INFO
    default = False
    fixable = "sometimes"

    @on_call(
        "torch.hub.load_state_dict_from_url",
        "torch.utils.model_zoo.load_url",
        "torchvision._internally_replaced_utils.load_state_dict_from_url",
    )
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        register = call.argument("map_location", 2)
        if call.has_splat or (register is not None and facts.value(register).kind is not Kind.NONE):
            return
        url = facts.constant(call.argument("url", 0))
        if isinstance(url, str) and url.startswith(_OWN_WEIGHTS):
            return
        yield self.report(
            call,
            'without `map_location` the weights go to the device of their publisher; pass `map_location="cpu"`',
            detail='Weights that were saved from a GPU raise "Attempting to deserialize object on a CUDA device" on a machine without one.',
            fix=lambda: _fix(call, facts) if register is None else None,
        )


def _fix(call: ir.Call, facts: Facts) -> NodeFix | None:
    edits = builders.add_keyword(call, "map_location", '"cpu"')
    safe = only_loaded(call, facts)
    return NodeFix(Ground.COPIED_BY_RECEIVER if safe else Ground.CHANGES_A_RUN, 'Pass `map_location="cpu"`', edits)
