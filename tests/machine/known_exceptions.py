"""Samples that cannot agree with the plain CPU, each with the reason. Nothing else may differ."""

_NO_CPU_KERNEL = "has no CPU kernel: nothing can be computed here"
_OTHER_PATH = "PyTorch takes another path while any dispatch mode is on, CPU tensors alone included"
_UNFILLED = "some results are memory that the kernel leaves unfilled: two runs on the plain CPU differ as well"

NOT_COMPARABLE = {
    "torch.ops.aten._flash_attention_forward": _NO_CPU_KERNEL,
    "torch.ops.aten._efficient_attention_forward": _NO_CPU_KERNEL,
    "nn.functional.batch_norm.without_cudnn": _NO_CPU_KERNEL,
    "jiterator_unary": _NO_CPU_KERNEL,
    "jiterator_binary": _NO_CPU_KERNEL,
    "jiterator_4inputs_with_extra_args": _NO_CPU_KERNEL,
    "jiterator_binary_return_by_ref": _NO_CPU_KERNEL,
    "jiterator_2inputs_2outputs": _NO_CPU_KERNEL,
    "nn.FractionalMaxPool2d": "its sample fails on the CPU: random samples of another dtype",
    "nn.FractionalMaxPool3d": "its sample fails on the CPU: random samples of another dtype",
}
OTHER_VALUES = {
    "prod": f"{_OTHER_PATH}: the gradient is rounded otherwise in the last bit",
    "linalg.lstsq": _UNFILLED,
    "linalg.lstsq.grad_oriented": _UNFILLED,
}
