"""TDL522."""

from __future__ import annotations

from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.rule import ERROR


class FactoryOfAcceleratorScalar(Inferred):
    """Finds CPU tensors that are made from numbers read off an accelerator and that go back to it.

    ## What it does
    Reports `torch.arange(lengths.max())`, `torch.tensor(x.item())`, `torch.tensor(x.tolist())` and their kind without `device=` where the
    number comes from a tensor that may be on an
    accelerator and the new tensor meets one in an operation.

    ## Why is this bad?
    Reading the number brings it to the host, and a factory without `device=` makes its tensor there, whatever device the number came from:
    `RuntimeError: Expected all tensors to be on the same device`.

    ## Example
        positions = torch.arange(lengths.max())
        mask = positions[None, :] < lengths[:, None]

    ## Use instead
        positions = torch.arange(lengths.max(), device=lengths.device)

    ## When it stays silent
    `torch.tensor(t)` and `torch.as_tensor(t)` of a tensor `t`, which keep its device; 0-dim results in pointwise operations; results that
    are moved first.

    ## Fix safety
    Safe in `forward`, where the old line failed on an accelerator and gives the same on the CPU; elsewhere unsafe.

    ## Proof
    The operation raises on an accelerator; with `device=` it gives the CPU run's values.

    ## References
    torch/utils/_device.py (_device_constructors).
    """

    code, name, severity = "TDL522", "factory-of-accelerator-scalar", ERROR
    fixable = "sometimes"
