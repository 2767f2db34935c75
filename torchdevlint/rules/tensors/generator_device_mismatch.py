"""TDL513."""

from __future__ import annotations

from torchdevlint.facts.facts import Facts
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.infer.claims import GENERATOR
from torchdevlint.infer.summary import Fault
from torchdevlint.infer.values import Site
from torchdevlint.program import ir
from torchdevlint.rules.inferred import Inferred, where_is
from torchdevlint.rules.repairs import There, facts_at
from torchdevlint.rules.rule import ERROR, Mention, NodeFix


class GeneratorDeviceMismatch(Inferred):
    """Finds random generators that draw numbers on another device than their own.

    ## What it does
    Follows `torch.Generator()` (always the CPU's, whatever the default device) and generators of a device to the functions that draw with them:
    factories with a `device=`, in-place sampling of a tensor, `multinomial`, `bernoulli`, `nn.init`; and generators of an accelerator to
    `DataLoader`, `RandomSampler` and `random_split`, which draw on the CPU.

    ## Why is this bad?
    A generator belongs to one device: `RuntimeError: Expected a 'cuda' device type for generator but found 'cpu'`, or the converse.

    ## Example
        generator = torch.Generator().manual_seed(0)
        noise = torch.randn(4, device=device, generator=generator)

    ## Use instead
        generator = torch.Generator(device=device).manual_seed(0)
        noise = torch.randn(4, device=device, generator=generator)

    ## When it stays silent
    Sampling on the CPU and moving the result (the reproducible way); generators that are given by callers who are not seen; loaders in
    programs that set a default device (TDL516).

    ## Fix safety
    Unsafe: the generator of another device gives other numbers.

    ## Proof
    Sampling on an accelerator with a CPU generator raises; with a generator of the device it works.

    ## References
    aten/src/ATen/core/Generator.h (check_generator); pytorch #98792, #118084.
    """

    code, name, severity = "TDL513", "generator-device-mismatch", ERROR
    fixable = "unsafe"

    def words(
        self, fault: Fault, told_at: Site, related: tuple[Mention, ...], there: There | None, facts: Facts
    ) -> tuple[str, str]:
        where = where_is(fault, there)
        if fault.host is None:
            raises = "That raises \"Expected a 'cpu' device type for generator but found 'cuda'\"."
            return f"this draws on the CPU, and its generator is on {where}; give it a `torch.Generator()`", raises
        at = (
            "here" if told_at is fault.site else "on line {0}" if fault.site.unit is told_at.unit else "in another file"
        )
        if fault.roles[0] != GENERATOR:
            raises = "On an accelerator that raises \"Expected a 'cpu' device type for generator but found 'cuda'\"."
            return f"this tensor is drawn on the CPU with a generator on {where}; create it there", raises
        advice = f"make it with `torch.Generator(device={there.expression})`" if there else "make it there"
        raises = "On an accelerator that raises \"Expected a 'cuda' device type for generator but found 'cpu'\". "
        return (
            f"this CPU generator draws numbers on {where} {at}; {advice}",
            raises + "Drawing on the CPU and moving the result works as well.",
        )

    def repair(self, fault: Fault, there: There | None, facts: Facts) -> NodeFix | None:
        made, inside = fault.place.op, facts_at(fault.place, facts)
        if fault.roles[0] != GENERATOR or there is None or inside is None or not isinstance(made, ir.Call):
            return None
        if made.arguments or not inside.makes(made):
            return None
        edits = builders.add_keyword(made, "device", there.expression)
        return NodeFix(Ground.CHANGES_A_RUN, f"Make the generator on `{there.expression}`", edits)
