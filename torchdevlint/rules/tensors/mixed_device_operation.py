"""TDL505."""

from __future__ import annotations

from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.rule import ERROR


class MixedDeviceOperation(Inferred):
    """Finds operations on two tensors that are on different devices.

    ## What it does
    Reports an operation where one tensor was made on the CPU and the other was put on a literally named accelerator, or where both were
    put on different accelerators.

    ## Why is this bad?
    Operations want one device: `RuntimeError: Expected all tensors to be on the same device`.

    ## Example
        weights = torch.ones(4, device="cuda:1")
        total = weights * scores.to("cuda:0")

    ## Use instead
        total = weights * scores.to(weights.device)

    ## When it stays silent
    0-dim CPU tensors in pointwise operations; index positions, `copy_` and `y[i] = t`; devices that the program computes (TDL504 reports
    factories that meet those).

    ## Fix safety
    A factory is given a device that the program names for the other tensor: safe, for elsewhere the old line failed. Two accelerators are
    left to the author.

    ## Proof
    The operation raises on a machine with the named accelerators; on one device it gives the CPU run's values.

    ## References
    aten/src/ATen/TensorIterator.cpp (compute_types); aten/src/ATen/core/op_registration/adaption.h.
    """

    code, name, severity = "TDL505", "mixed-device-operation", ERROR
    fixable = "sometimes"
