"""TDL515."""

from __future__ import annotations

from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.rule import ERROR


class CpuTensorAccumulator(Inferred):
    """Finds CPU tensors that are updated in place with values from an accelerator.

    ## What it does
    Follows tensors made without `device=` to `total += loss`, `total.add_(loss)` and other in-place operations whose operand comes from a
    model, an argument or a
    move to a device.

    ## Why is this bad?
    The CPU tensor is the output of the operation, and an output must be on the operands' device even when it has no dimensions:
    `RuntimeError: Expected all tensors to be on the same device`.

    ## Example
        total = torch.tensor(0.0)
        for batch in batches:
            total += loss_of(model, batch.to(device))

    ## Use instead
        total = torch.tensor(0.0, device=device)

    ## When it stays silent
    Python numbers; `.item()` or `.cpu()` on the right side; `total = total + loss` with a 0-dim `total`; tensors that are moved before
    the update.

    ## Fix safety
    Safe in `forward`, where the old line failed on every machine with an accelerator; elsewhere unsafe.

    ## Proof
    The update raises on an accelerator; with `device=` it gives the CPU run's value.

    ## References
    aten/src/ATen/TensorIterator.cpp (compute_types: only inputs may be CPU scalars).
    """

    code, name, severity = "TDL515", "cpu-tensor-accumulator", ERROR
    fixable = "sometimes"
