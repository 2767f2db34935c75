"""TDL302."""

from __future__ import annotations

from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.rule import ERROR


class FunctionalLossWeightOnCpu(Inferred):
    """Finds `weight=` and `pos_weight=` tensors of functional losses that are created on the CPU.

    ## What it does
    Reports `F.cross_entropy(logits, y, weight=w)`, `F.nll_loss`, `F.binary_cross_entropy` and `F.binary_cross_entropy_with_logits` where `w` is made without a device
    and the logits may be on an accelerator.

    ## Why is this bad?
    On an accelerator the call raises `RuntimeError: Expected all tensors to be on the same device`.

    ## Example
        weight = torch.tensor([1.0, 4.0])
        return F.cross_entropy(self.head(x), y, weight=weight)

    ## Use instead
        logits = self.head(x)
        weight = torch.tensor([1.0, 4.0], device=logits.device)
        return F.cross_entropy(logits, y, weight=weight)

    ## When it stays silent
    A 0-dim `pos_weight`, a weight that is moved (`.to(logits)`), a registered buffer, `device=`.

    ## Fix safety
    `device=` in the factory is safe where the device's spelling is in scope.

    ## Proof
    The loss of an accelerator's logits with a CPU weight raises; with the device given it equals the CPU run.

    ## References
    aten/src/ATen/native/Loss.cpp, torch/nn/functional.py.
    """

    code, name, severity = "TDL302", "functional-loss-weight-on-cpu", ERROR
    fixable = "sometimes"
