"""TDL514."""

from __future__ import annotations

from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.rule import ERROR


class ArgumentMustBeOnCpu(Inferred):
    """Finds accelerator tensors given for arguments that must be on the CPU.

    ## What it does
    Follows tensors that were moved to a device to `lengths` of `pack_padded_sequence` and to the tensor of indices of `tensor_split`.

    ## Why is this bad?
    These values are read by the host: `RuntimeError: 'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor`.
    Moving the whole batch to the
    device breaks the call.

    ## Example
        tokens, lengths = tokens.to(device), lengths.to(device)
        packed = pack_padded_sequence(embed(tokens), lengths)

    ## Use instead
        packed = pack_padded_sequence(embed(tokens), lengths.cpu())

    ## When it stays silent
    Lists of integers, `.cpu()`, `.tolist()`; a caller's argument, and what is computed from it (whoever passes it may keep it on the CPU);
    what a model gives beside other things (it may be a list); unknown values.

    ## Fix safety
    Safe: `.cpu()` returns the tensor itself on the CPU, and elsewhere the old line failed.

    ## Proof
    Packing with lengths on an accelerator raises; with `lengths.cpu()` it gives the CPU run's values.

    ## References
    torch/nn/utils/rnn.py; aten/src/ATen/native/PackedSequence.cpp; aten/src/ATen/native/TensorShape.cpp (tensor_split).
    """

    code, name, severity = "TDL514", "argument-must-be-on-cpu", ERROR
    fixable = "safe"
