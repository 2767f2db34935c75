"""A machine without GPU: the CPU-only build."""

import torch
from _no_gpu import refuses
from _support import raises

SHAPE = {"build": "cpu"}


def case_refuses() -> None:
    refuses(AssertionError, "Torch not compiled with CUDA enabled")
    assert torch.version.cuda is None and not torch.backends.cuda.is_built()


def case_a_cpu_build_has_no_accelerator() -> None:
    assert torch.accelerator.current_accelerator() is None and not torch.accelerator.is_available()
    x = torch.ones(2)
    for call in (lambda: torch.zeros(1, device=0), lambda: x.to(0), lambda: x.cuda(0), x.pin_memory):
        with raises(RuntimeError, "Cannot access accelerator device when none is available."):
            call()
    with raises(TypeError, "type torch.cuda.FloatTensor not available. Torch not compiled with CUDA enabled."):
        torch.cuda.FloatTensor(2)
    with raises(RuntimeError, "Cannot get CUDA generator without ATen_cuda library."):
        torch.Generator("cuda")
    assert torch.Generator().device.type == "cpu"
