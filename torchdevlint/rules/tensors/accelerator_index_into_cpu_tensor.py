"""TDL506."""

from __future__ import annotations

from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.rule import ERROR


class AcceleratorIndexIntoCpuTensor(Inferred):
    """Finds CPU tensors that are indexed by an index or mask on an accelerator.

    ## What it does
    Follows tensors that are made on the CPU to `table[index]` where the index or mask comes from an argument, a
    model or a move to a device.

    ## Why is this bad?
    A CPU tensor takes indices on the CPU only: `RuntimeError: indices should be either on cpu or on the same device as the indexed tensor
    (cpu)`. (The other direction is
    allowed: a tensor on an accelerator takes indices on the CPU, at the price of a copy.)

    ## Example
        labels = torch.eye(classes)[targets.to(device)]

    ## Use instead
        labels = torch.eye(classes, device=device)[targets.to(device)]

    ## When it stays silent
    Assignments `table[index] = value`; slices, integers and 0-dim indices; an index that is on the CPU or of which nothing is known; plain
    attributes of modules (TDL603).

    ## Fix safety
    The index is brought to the CPU, which is safe: on the CPU `.cpu()` returns the index itself, elsewhere the old line failed.

    ## Proof
    Indexing raises on an accelerator; with the index on the CPU it gives the CPU run's values.

    ## References
    aten/src/ATen/native/TensorAdvancedIndexing.cpp (check_indices_on_cpu_or_selfdevice).
    """

    code, name, severity = "TDL506", "accelerator-index-into-cpu-tensor", ERROR
    gives_way = True  # a tensor that meets others too is made elsewhere
    fixable = "sometimes"
