"""TDL509."""

from __future__ import annotations

from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.rule import ERROR


class NumpyOnAcceleratorTensor(Inferred):
    """Finds accelerator tensors that are given to NumPy and other host libraries.

    ## What it does
    Follows tensors that come from a moved model, a module's parameters or a move to a device, to `.numpy()`, `np.*`, matplotlib,
    pandas, scikit-learn, `PIL.Image.fromarray` without `.cpu()` in between. `x.numpy()` of an argument that is a tensor is a warning: callers
    may give it on an accelerator, unless those that are seen bring it to the CPU.

    ## Why is this bad?
    Host libraries read host memory. On an accelerator the line raises `TypeError: can't convert cuda:0 device type tensor to numpy. Use
    Tensor.cpu() to copy the tensor to host memory first.`

    ## Example
        scores = model(images.to(device))
        best = scores.argmax(1).numpy()

    ## Use instead
        best = scores.argmax(1).cpu().numpy()

    ## When it stays silent
    `.cpu()`, `.numpy(force=True)`, `.tolist()`, `.item()`; tensors whose device is unknown or the CPU; arguments that may be arrays, of data
    sets, their transforms and tests; what NumPy reads as an index or a shape; the side of a test that says CPU.

    ## Fix safety
    Inserting `.cpu()` is safe: on the CPU it returns the tensor itself. `.detach()` is added where the tensor may require grad.

    ## Proof
    A module's output on an accelerator raises in `.numpy()`; with `.cpu()` it gives the CPU run's values.

    ## References
    torch/csrc/utils/tensor_numpy.cpp.
    """

    code, name, severity = "TDL509", "numpy-on-accelerator-tensor", ERROR
    fixable = "safe"
