"""TDL108."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.rules.rule import INFO, NodeFix, Report, Rule, on_any_call


class LightningLoadFromCheckpointDevice(Rule):
    """Finds Lightning checkpoints that are loaded to the device they were saved from.

    ## What it does
    Reports `Model.load_from_checkpoint(path)` without `map_location`, in files that import Lightning.

    ## Why is this bad?
    The module comes back on the device that the checkpoint names when that device exists; Lightning falls back to the CPU when
    there is no such accelerator at all. A file of `cuda:1` still raises on a machine with one GPU. Off by default: mostly it is
    what is wanted.

    ## Example
        model = Net.load_from_checkpoint(path)

    ## Use instead
        model = Net.load_from_checkpoint(path, map_location="cpu")

    ## When it stays silent
    `Trainer(...).fit(ckpt_path=...)`, data modules, `**kwargs`.

    ## Fix safety
    Unsafe: the module is returned on another device.

    ## Proof
    Needs Lightning, which is no dependency of this program: no proof is claimed. (The same load by `torch.load` is the proof of TDL101.)

    ## References
    lightning/pytorch/core/saving.py (_default_map_location, _load_from_checkpoint).
    """

    code, name, severity = "TDL108", "lightning-load-from-checkpoint-device", INFO
    default = False
    fixable = "unsafe"

    @on_any_call
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        written = facts.definition(call.function)
        if not isinstance(written, ir.Attribute) or written.name != "load_from_checkpoint":
            return
        if call.has_splat or call.argument("map_location", 1) is not None:
            return
        owner = facts.place(written.object)
        if not facts.imports("lightning", "pytorch_lightning") or "datamodule" in owner.lower().replace("_", ""):
            return
        yield self.report(
            call,
            "without `map_location` the module goes to the device it was saved from; pass `map_location`",
            detail="A checkpoint of `cuda:1` raises on a machine with one GPU; where there is no such accelerator Lightning takes the CPU.",
            fix=lambda: _fix(call),
        )


def _fix(call: ir.Call) -> NodeFix | None:
    edits = builders.add_keyword(call, "map_location", '"cpu"')
    return NodeFix(Ground.CHANGES_A_RUN, 'Pass `map_location="cpu"`', edits)
