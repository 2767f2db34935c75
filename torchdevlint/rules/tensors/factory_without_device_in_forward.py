"""TDL504."""

from __future__ import annotations

from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.rule import ERROR


class FactoryWithoutDeviceInForward(Inferred):
    """Finds tensors that are created on the CPU and then meet a tensor on somebody else's device.

    ## What it does
    Follows tensors made by a factory without `device=` (`torch.zeros`, `torch.arange`, `torch.from_numpy`, ...) to the operation where
    they meet an argument, a parameter, a buffer or the output of a submodule: an error in `forward` and what it calls, a warning elsewhere.
    One that is returned beside what is computed from an argument, with a value for each of its rows, is a note.

    ## Why is this bad?
    Once the module or the argument is on an accelerator the operation raises `RuntimeError: Expected all tensors to be on the same device`.

    ## Example
        def forward(self, x):
            return x * torch.ones(x.size(0), 1)

    ## Use instead
        def forward(self, x):
            return x * torch.ones(x.size(0), 1, device=x.device)

    ## When it stays silent
    0-dim tensors in pointwise operations; tensors that are moved before the operation, or are only an index, a size or the source of
    `y[i] = t`; code under a default device; operands that are not known to be tensors, or that the callers give on the CPU.

    ## Fix safety
    `device=`, or `.to(...)`, is safe in `forward` where it names the device of the tensor that is met: on the CPU nothing changes,
    elsewhere the old line failed. It is unsafe for a model of unknown class and outside of `forward`.

    ## Proof
    The forward pass of a module on an accelerator raises; with `device=x.device` it gives the values of the CPU run.

    ## References
    aten/src/ATen/TensorIterator.cpp (compute_types), aten/src/ATen/core/op_registration/adaption.h.
    """

    code, name, severity = "TDL504", "factory-without-device-in-forward", ERROR
    fixable = "sometimes"
