"""TDL603."""

from __future__ import annotations

from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.rule import ERROR


class TensorAttributeNotBuffer(Inferred):
    """Finds tensors kept as plain attributes of a module and used with tensors that follow the module.

    ## What it does
    Looks for `self.x = <tensor>` in an `nn.Module` where `x` is no parameter and no buffer, and where a method that `forward` reaches
    combines `self.x` with an argument, a parameter or a submodule's output, or looks it up with one (`self.table[index]`). A CPU tensor that a
    class keeps which is no module is told of where it is made.

    ## Why is this bad?
    `Module.to()` moves parameters and buffers only. The attribute stays on the CPU and the operation raises
    `RuntimeError: Expected all tensors to be on the same device` as soon as the module is on an accelerator. It is not in the state dict either.

    ## Example
        def __init__(self):
            super().__init__()
            self.scale = torch.ones(3)

    ## Use instead
        def __init__(self):
            super().__init__()
            self.register_buffer("scale", torch.ones(3), persistent=False)

    ## When it stays silent
    It is moved where it is read, or by an override of `to`, `cuda` or `_apply`; it is 0-dim, an index, a shape or an empty placeholder; it is
    refilled from the inputs; the constructor puts it on a device of its own.

    ## Fix safety
    Safe never: a floating-point buffer is cast by `.half()` where the attribute was not, and an assignment of something else to the name
    raises. `persistent=False` keeps the keys of the state dict.

    ## Proof
    The module is moved to an accelerator and called: the plain attribute raises; a buffer gives the CPU run's values.

    ## References
    torch/nn/modules/module.py (_apply, register_buffer).
    """

    code, name, severity = "TDL603", "tensor-attribute-not-buffer", ERROR
    fixable = "unsafe"
