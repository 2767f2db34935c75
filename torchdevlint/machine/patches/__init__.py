"""The Python surfaces of torch that the machine replaces, a file for each.

Each module has an ``install()``; `install_all` runs them in the order that they need.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_MISSING = object()
_replaced: list[tuple[Any, str, Any, Any]] = []


def replace(owner: Any, name: str, value: Any) -> Any:
    """Put ``value`` in the place of ``owner.name``; gives back what was there (None when nothing was)."""
    _replaced.append((owner, name, owner.__dict__.get(name, _MISSING), value))
    original = getattr(owner, name, None)
    setattr(owner, name, value)
    return original


@contextmanager
def suspended() -> Iterator[None]:
    """Inside, torch is as it was before the machine started; tensors keep their tags."""
    for owner, name, before, _ in reversed(_replaced):
        if before is _MISSING:
            delattr(owner, name)
        else:
            setattr(owner, name, before)
    try:
        yield
    finally:
        for owner, name, _, value in _replaced:
            setattr(owner, name, value)


class _UnpatchedImport(importlib.abc.MetaPathFinder):
    """Modules of torch that must see the real functions when they are imported, whenever that is.

    torch._dynamo compares torch's functions with its own lists; the decompositions for forward-mode derivatives are
    scripted. Importing them at the start would cost more than the whole machine.
    """

    def __init__(self) -> None:
        self.waiting = {"torch._dynamo", "torch._decomp.decompositions_for_jvp"} - sys.modules.keys()

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname not in self.waiting:
            return None
        self.waiting.remove(fullname)
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_unpatched(module: Any) -> None:
            from torchdevlint.machine.patches import tracing

            with suspended():
                execute(module)
            if fullname == "torch._dynamo":
                tracing.refuse_dynamo(module)

        spec.loader.exec_module = execute_unpatched  # type: ignore[method-assign]
        return spec


def install_all() -> None:
    """Patch everything that a machine with GPUs needs."""
    from torchdevlint.machine.patches import (
        accelerator,
        amp,
        cuda,
        device,
        distributed,
        factories,
        foreach,
        generator,
        gradient,
        guards,
        parallel,
        rnn,
        serialization,
        sharing,
        storage,
        streams,
        tensor,
        tensor_types,
        threads,
        tracing,
    )

    tensor.install()  # first: it keeps the originals that others call
    for module in (
        device,
        gradient,
        storage,
        factories,
        tensor_types,
        generator,
        cuda,
        streams,
        accelerator,
        amp,
        foreach,
        rnn,
        guards,
        parallel,
        serialization,
        sharing,
        distributed,
        tracing,
        threads,
    ):
        module.install()
    if "torch._dynamo" in sys.modules:
        tracing.refuse_dynamo(sys.modules["torch._dynamo"])
    sys.meta_path.insert(0, _UnpatchedImport())
