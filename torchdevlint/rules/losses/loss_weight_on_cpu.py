"""TDL301."""

from __future__ import annotations

from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.rule import ERROR


class LossWeightOnCpu(Inferred):
    """Finds loss modules whose class weights stay on the CPU.

    ## What it does
    Follows the tensor that `nn.CrossEntropyLoss(weight=w)` and the other losses with `weight=` or `pos_weight=` keep from where it is created on
    the CPU to the call of the criterion, which nothing has moved, with tensors elsewhere.

    ## Why is this bad?
    The weight is a buffer of the loss module and stays on the CPU until the module is moved. Given an accelerator's logits, the loss raises
    `RuntimeError: Expected all tensors to be on the same device`.

    ## Example
        criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0]))

    ## Use instead
        criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0])).to(device)

    ## When it stays silent
    A criterion that is an attribute of an `nn.Module` (it moves with it), one that is moved itself, a 0-dim `pos_weight`, Python numbers, default
    devices, programs that never leave the CPU.

    ## Fix safety
    The weight is created on the device that the program names, which is safe: on the CPU nothing changes, elsewhere the old line failed.

    ## Proof
    A weighted loss on an accelerator's logits raises; moved, it gives the CPU run's value.

    ## References
    torch/nn/modules/loss.py (_WeightedLoss registers the weight as a buffer).
    """

    code, name, severity = "TDL301", "loss-weight-on-cpu", ERROR
    fixable = "sometimes"
