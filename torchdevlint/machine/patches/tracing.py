"""Compilers and tracers: TorchScript and torch.compile run eagerly, export and FakeTensor are refused.

Tracing would make C++ FakeTensors on CUDA; autograd then aborts the whole process on a CPU build.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses import fake_tensor

from torchdevlint.machine.notes import note
from torchdevlint.machine.patches import replace

_EAGER = "{} runs eagerly on a virtual GPU: what the compiler would do is not judged"
_REFUSED = (
    "a virtual GPU cannot trace: FakeTensor (torch.export, torch._dynamo, AOTAutograd) is not available on it; run the "
    "program eagerly"
)


def _eager(name: str) -> Any:
    def unchanged(model: Any = None, *args: Any, **kwargs: Any) -> Any:
        note(_EAGER.format(name))
        return model if model is not None else lambda function: function

    unchanged.__name__ = name.rsplit(".", 1)[-1]
    return unchanged


def _compile_in_place(self: Any, *args: Any, **kwargs: Any) -> None:
    note(_EAGER.format("Module.compile"))


_NOT_TRACED = "torch.jit.save: a virtual GPU cannot save TorchScript: torch.jit.trace and torch.jit.script run eagerly on it; save `state_dict()` instead"


def _save(original: Any) -> Any:
    def save(module: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(module, torch.jit.ScriptModule):
            raise NotImplementedError(_NOT_TRACED)
        return original(module, *args, **kwargs)

    return save


def _refuse(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{name}: {_REFUSED}")

    refuse.__name__ = name.rsplit(".", 1)[-1]
    return refuse


_OF_CUDA_GRAPHS = ("_cuda_CUDAAllocator_AllocatorState", "_set_cached_tensors_enabled")
"""Names of torch._C that torch/_inductor/cudagraph_trees.py imports, and that a CPU build lacks; `torch._dynamo.reset` imports it."""


def refuse_dynamo(dynamo: Any) -> None:
    """Patch the entry points of torch._dynamo, once it is imported: it would wrap our refusal into its own errors."""
    for name in ("optimize", "optimize_assert", "export", "explain"):
        replace(dynamo, name, _refuse(f"torch._dynamo.{name}"))


def install() -> None:
    """Patch the entry points."""
    for missing in (name for name in _OF_CUDA_GRAPHS if not hasattr(torch._C, name)):
        setattr(torch._C, missing, _refuse(missing))
    for owner, name in ((torch.jit, "script"), (torch.jit, "trace"), (torch, "compile")):
        replace(owner, name, _eager(f"{owner.__name__}.{name}"))
    replace(torch.jit, "save", _save(torch.jit.save))
    replace(torch.nn.Module, "compile", _compile_in_place)
    replace(fake_tensor.FakeTensorMode, "__init__", _refuse("FakeTensorMode"))
