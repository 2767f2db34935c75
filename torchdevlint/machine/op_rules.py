"""The device rule of every operator, derived from the native_functions.yaml inside the installed torch wheel.

torchgen makes each CUDA kernel's wrapper from that file: whether it checks that all tensors share a device, in which
order, and the method name that the error quotes. Parsing takes over a second, so the result is kept as JSON in the
user's cache folder, by torch version.
"""

from __future__ import annotations

import itertools
import json
import mmap
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch

from torchdevlint.machine.cache import cache_folder

Kind = Literal["cuda", "nocuda", "composite-implicit", "composite-explicit"]
_FORMAT = 2


@dataclass(frozen=True, slots=True)
class OpRule:
    """How CUDA checks the devices of one operator.

    ``kind`` says whether it has a CUDA kernel or is composed of other operators; ``exact`` that the kernel's wrapper
    wants all tensors on one device (else TensorIterator's rule holds); ``method`` is the wrapper's name in the error;
    ``arguments`` the tensor arguments in the order of the check.
    """

    kind: Kind
    exact: bool
    method: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OpRules:
    """All rules of a torch release; ``new_wording`` tells which text its libraries hold for a mismatch."""

    rules: dict[str, OpRule]
    new_wording: bool


def load() -> OpRules:
    """The rules of the installed torch, from the cache or derived now.

    Raises ImportError (no pyyaml) or OSError/ValueError (no native_functions.yaml, or one that cannot be read).
    """
    path = cache_file()
    cached = _read(path)
    if cached is not None:
        return cached
    derived = OpRules(_derive(), _library_has_new_wording())
    _write(path, derived)
    return derived


def cache_file() -> Path:
    """Where the rules of this torch version are kept."""
    return cache_folder() / "machine" / f"op-rules-{torch.__version__}-{_FORMAT}.json"


def _read(path: Path) -> OpRules | None:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        rules = {
            name: OpRule(kind, exact, method, tuple(args))
            for name, (kind, exact, method, args) in data["rules"].items()
        }
        return OpRules(rules, data["new_wording"])
    except (OSError, ValueError, KeyError, TypeError):
        return None  # damage is a miss


def _write(path: Path, rules: OpRules) -> None:
    plain = {name: [r.kind, r.exact, r.method, list(r.arguments)] for name, r in rules.rules.items()}
    text = json.dumps({"new_wording": rules.new_wording, "rules": plain}, separators=(",", ":"))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
            file.write(text)
        Path(file.name).replace(path)
    except OSError:
        return  # a read-only home costs time, not correctness


def _derive() -> dict[str, OpRule]:
    import torchgen  # type: ignore[import-untyped]
    from torchgen.gen import get_grouped_native_functions, parse_native_yaml  # type: ignore[import-untyped]
    from torchgen.model import DispatchKey, NativeFunctionsGroup  # type: ignore[import-untyped]

    folder = Path(torchgen.__path__[0]) / "packaged" / "ATen" / "native"
    parsed = parse_native_yaml(str(folder / "native_functions.yaml"), str(folder / "tags.yaml"))
    cuda = parsed.backend_indices[DispatchKey.CUDA]
    rules = {}
    for group in get_grouped_native_functions(parsed.native_functions):
        grouped = isinstance(group, NativeFunctionsGroup)
        structured = grouped and group.structured
        for function in group.functions() if grouped else [group]:
            name = str(function.func.name)
            rules[name if "." in name else f"{name}.default"] = _rule(
                function, structured, cuda.has_kernel(group if structured else function)
            )
    return rules


def _rule(function: Any, structured: bool, has_kernel: bool) -> OpRule:
    from torchgen.api import dispatcher, native  # type: ignore[import-untyped]
    from torchgen.model import DeviceCheckType

    if structured:
        method = "wrapper_CUDA_" + native.name(function.func)
    else:
        method = f"wrapper_CUDA_{function.func.name.overload_name}_" + dispatcher.name(function.func)
    arguments = itertools.chain(function.func.arguments.out, function.func.arguments.flat_positional)
    names = tuple(argument.name for argument in arguments if argument.type.is_tensor_like())
    return OpRule(_kind(function, has_kernel), function.device_check is DeviceCheckType.ExactSame, method, names)


def _kind(function: Any, has_kernel: bool) -> Kind:
    if has_kernel:
        return "cuda"
    if function.has_composite_implicit_autograd_kernel:
        return "composite-implicit"
    if (
        function.has_composite_explicit_autograd_kernel
        or function.has_composite_explicit_autograd_non_functional_kernel
    ):
        return "composite-explicit"
    return "nocuda"


def _library_has_new_wording() -> bool:
    """Look for the newer text in the library itself: the change does not follow release numbers."""
    folder = Path(torch.__file__).parent / "lib"
    for name in ("libtorch_cpu.so", "libtorch_cpu.dylib", "torch_cpu.dll"):
        try:
            with (folder / name).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
                return text.find(b", different from other tensors on ") >= 0
        except OSError:
            continue
    return True
