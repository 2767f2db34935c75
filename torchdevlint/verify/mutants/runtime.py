"""What a rewritten call does. The names that `rewrite` puts into test code are builtins of the process."""

from __future__ import annotations

import builtins
import functools
import inspect
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torchdevlint.verify.mutants.record import Recorder
from torchdevlint.verify.mutants.rewrite import CALL, GPU, ITEM, LOOP
from torchdevlint.verify.mutants.settings import Mode
from torchdevlint.verify.mutants.testcode import TestCode

_NEVER, _TORCH, _TORCH_NAME, _LIBRARY = 0, 1, 2, 3
"""What is called: something whose result stays as it is; torch's, which may hold tensors (a method, a closure); a name of torch's modules; the library's."""
_PASSED = frozenset(
    {
        "_pytest",
        "pytest",
        "pluggy",
        "hypothesis",
        "parameterized",
        "torchdevlint",
        "absl",
        "mock",
        "pytest_mock",
        "attr",
        "yaml",
        *"numpy scipy sklearn pandas PIL matplotlib cv2 skimage networkx librosa".split(),  # they make no tensor
    }
)
_MAKES = frozenset({"builtins.next", "copy.copy", "copy.deepcopy", "pickle.loads", "pickle.load"})
"""Functions of the standard library whose result may be a new tensor."""
_STAYS = frozenset(
    {
        "cpu",
        "set_default_device",
        "get_rng_state",
        "Generator",
        "default_generator",
        "manual_seed",
        "fork_rng",
        "tolist",
    }
)
_COMPARES = frozenset({"assert_close", "assert_allclose", "assert_equal"})
_TOLD = {"device": GPU, "cuda": True, "use_gpu": True, "use_cuda": True, "gpu": True}
"""Parameters by which a library is told where to work, and what tells it to use the GPU."""


class _Runtime:
    """The state of the rewritten calls of this process; `values` is the module of that name once torch and the machine are there."""

    def __init__(self, code: TestCode, recorder: Recorder, mode: Mode) -> None:
        self.code = code
        self.recorder = recorder
        self.mode = mode
        self.values: Any = None
        self.torch: Any = None
        self.kinds: dict[Any, int] = {}

    # ---- the start

    def ready(self) -> bool:
        """Whether torch is imported and the machine runs; the first time, the machine is watched from here on."""
        if self.values is not None:
            return True
        torch = sys.modules.get("torch")
        if torch is None or not hasattr(torch, "nn") or "torchdevlint.machine.core" not in sys.modules:
            return False
        from torchdevlint.machine import current

        if current() is None:
            return False
        from torchdevlint.machine import forgiving, places
        from torchdevlint.verify.mutants import values

        places.name_machinery(str(Path(__file__).parent))
        places.name_user_code(self.code.library)

        self.torch, self.values = torch, values
        forgiving.WATCH.operand = self.recorder.operand
        forgiving.WATCH.fault = self.fault
        if self.mode == "default":
            torch.set_default_device(GPU)
        return True

    def fault(self, error: Exception, tensors: list[Any]) -> bool:
        """Called by the machine: keep the fault; the program goes on, but for a fault of the library where each is to be raised."""
        from torchdevlint.machine import errors
        from torchdevlint.machine.tags import Tag, tag_of

        places = getattr(error, errors.ATTRIBUTE, None)
        if places is None:
            return False
        guilty = [(tag_of(t), t.dim()) for t in tensors if self.values.device_type(t) == "cpu"]
        if not tensors:  # a generator: its line is in the story alone
            guilty = [(Tag(t.device, t.created, t.moved), -1) for t in places.tensors if t.device == "cpu"]
        kept = self.recorder.fault(places, str(error), guilty)
        return not (kept and self.mode == "strict")

    # ---- calls

    def call(self, function: Any) -> Any:
        """What test code calls in the place of `function`."""
        if self.values is None and not self.ready():
            return function
        kind = self._kind(function)
        if kind == _NEVER:
            return function
        return _Call(self, function, kind)

    def _kind(self, function: Any) -> int:
        key: Any = function
        kind = type(function)
        if kind is types.BuiltinMethodType:
            own = function.__self__
            if isinstance(own, self.torch.Tensor):
                return _TORCH
            if own is not None and not isinstance(own, (type, types.ModuleType)):
                key = (type(own), function.__name__)  # not the method of each list and dict that a test makes
        elif kind is types.MethodType:
            key = function.__func__
            if isinstance(function.__self__, self.torch.Tensor):
                return _TORCH if function.__name__ != "__init__" else _NEVER
        elif kind is functools.partial:
            return self._kind(function.func)
        elif kind is not types.FunctionType and not isinstance(function, type):
            key = kind  # an object that can be called: what its class is
        try:
            known = self.kinds.get(key)
        except TypeError:
            return self._look(function)
        if known is None:
            known = self.kinds[key] = self._look(function)
        return known

    def _look(self, function: Any) -> int:
        code = getattr(getattr(function, "__func__", function), "__code__", None)
        if code is not None and not getattr(function, "__wrapped__", None) and self.code.holds(code.co_filename):
            return _NEVER
        module = _module_of(function)
        if code is None and self._defined_in_tests(module):
            # an instance or a class of the tests may be a module, which a user would move
            return _LIBRARY if isinstance(function, type) and issubclass(function, self.torch.nn.Module) else _NEVER
        top = module.split(".", 1)[0]
        if top == "torch":
            known = getattr(sys.modules.get(module), getattr(function, "__name__", ""), None)
            return _TORCH_NAME if known is function else _TORCH
        name = f"{module}.{getattr(function, '__qualname__', '')}"
        if name in _MAKES:
            return _TORCH
        if top in sys.stdlib_module_names or top in _PASSED or top.startswith("xdist"):
            return _NEVER
        return _LIBRARY

    def _defined_in_tests(self, module: str) -> bool:
        file = getattr(sys.modules.get(module), "__file__", None)
        return file is not None and self.code.holds(file)

    def run(self, function: Any, kind: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call, and move what was made."""
        if kind == _LIBRARY:
            return self._run_library(function, args, kwargs)
        return self._run_torch(function, None if kind == _TORCH_NAME else function, args, kwargs)

    def _run_torch(self, function: Any, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """`owner`: what may hold tensors besides the arguments, the function itself or None."""
        values, torch = self.values, self.torch
        name = getattr(function, "__name__", "")
        if function is torch.device:
            made = function(*args, **kwargs)
            return torch.device(GPU) if made.type == "cpu" else made
        if name in _COMPARES:
            return function(*values.to_host(args), **values.to_host(kwargs))
        if name == "DataLoader" and kwargs.get("generator") is None:
            return function(*args, **kwargs)
        made = function(*args, **kwargs)
        if made is None or name in _STAYS or isinstance(made, (bool, int, float, str)):
            return made
        if isinstance(made, torch.nn.Module):
            fresh = _constructs(function) or not self._given_gpu(owner, args, kwargs)
            return values.moved(made, True) if fresh else made
        if isinstance(made, torch.Tensor):
            if values.device_type(made) == "cpu" and not self._given_gpu(owner, args, kwargs):
                values.retag(made, True)
            return made
        if not values.holds(made, "cpu") or self._given_gpu(owner, args, kwargs):
            return made
        return values.moved(made, True)

    def _run_library(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        values, torch = self.values, self.torch
        args = tuple(map(self._gpu_device, args))
        if kwargs:
            kwargs = {name: self._gpu_device(value, name) for name, value in kwargs.items()}
        if self.mode in ("told", "default"):
            kwargs = self._tell(function, args, kwargs)
        made = function(*args, **kwargs)
        if made is None or isinstance(made, (bool, int, float, str)):
            return made
        own = getattr(function, "__self__", None)
        if isinstance(made, torch.nn.Module):
            if made is own or not (_constructs(function) or not self._given_gpu(function, args, kwargs)):
                return made
            return values.moved(made, True)
        if isinstance(made, torch.Tensor) and values.device_type(made) == "cuda":
            return made
        if not values.holds(made, "cpu"):
            return made
        if not self._given_gpu(function, args, kwargs):
            return values.moved(made, False)
        if not _constructs(function):
            self._returned(function, args, kwargs, made)
        return made

    def _given_gpu(self, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        holds = self.values.holds
        if any(holds(value, "cuda", 2) for value in args) or any(holds(value, "cuda", 2) for value in kwargs.values()):
            return True
        return owner is not None and not isinstance(owner, type) and holds(owner, "cuda", 1)

    def _returned(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], made: Any) -> None:
        """The second signal: GPU tensors in, a CPU tensor out that was none of the inputs."""
        from torchdevlint.machine.tags import HOST, WILD, tag_of

        values = self.values
        inputs = {id(tensor) for tensor in values.tensors((function, args, kwargs))}
        frame = sys._getframe(4)
        for tensor in values.tensors(made, 2):
            tag = tag_of(tensor)
            if values.device_type(tensor) != "cpu" or id(tensor) in inputs or tag is WILD or tag is HOST:
                continue
            name = f"{_module_of(function)}.{getattr(function, '__qualname__', type(function).__name__)}"
            self.recorder.returned(tag, tensor.dim(), name, (frame.f_code.co_filename, frame.f_lineno))
            return

    def _gpu_device(self, value: Any, name: str = "") -> Any:
        if type(value) is self.values.Device and value.type == "cpu":
            return self.torch.device(GPU)
        if isinstance(value, str) and value == "cpu" and "device" in name:
            return GPU
        return value

    def _tell(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments with those that tell the library to use the GPU, where it has such and the test left them out."""
        try:
            signature = inspect.signature(function)
            given = signature.bind_partial(*args, **kwargs).arguments
        except (TypeError, ValueError):
            return kwargs
        extra = {
            name: self.torch.device(GPU) if name == "device" and not isinstance(parameter.default, str) else _TOLD[name]
            for name, parameter in signature.parameters.items()
            if name in _TOLD
            and name not in given
            and parameter.kind is not parameter.POSITIONAL_ONLY
            and (name == "device" or isinstance(parameter.default, (bool, type(None))))
        }
        return {**kwargs, **extra}

    # ---- subscripts and loops

    def item(self, holder: Any, key: Any) -> Any:
        """`holder[key]`: what a dataset gives is moved, as a user does it."""
        made = holder[key]
        if (
            self.values is not None
            and isinstance(holder, self.torch.utils.data.Dataset)
            and self.values.holds(made, "cpu")
        ):
            return self.values.moved(made, False)
        return made

    def loop(self, items: Any) -> Any:
        """What a loop goes through: the batches of a loader are moved."""
        if self.values is None:
            return items
        kind = type(items)
        if kind in (list, tuple, range, dict, types.GeneratorType):
            return items
        data = self.torch.utils.data
        if isinstance(items, (data.DataLoader, data.Dataset)) or kind.__name__.endswith(
            ("DataLoader", "DataLoaderIter")
        ):
            return self._batches(items)
        return items

    def _batches(self, items: Any) -> Iterator[Any]:
        for batch in items:
            yield self.values.moved(batch, False)


class _Call:
    """`function`, called from test code. Everything else about it is the function's own."""

    __slots__ = ("function", "kind", "runtime")

    def __init__(self, runtime: _Runtime, function: Any, kind: int) -> None:
        self.runtime = runtime
        self.function = function
        self.kind = kind

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.runtime.run(self.function, self.kind, args, kwargs)


def _constructs(function: Any) -> bool:
    """Whether a call makes an object of a class: the class itself, with arguments kept by `functools.partial`, or its class method."""
    while isinstance(function, functools.partial):
        function = function.func
    return isinstance(function, type) or isinstance(getattr(function, "__self__", None), type)


def _module_of(function: Any) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    own = getattr(function, "__self__", None)
    if isinstance(function, types.BuiltinFunctionType) and own is not None and not isinstance(own, types.ModuleType):
        return str((own if isinstance(own, type) else type(own)).__module__)
    module = getattr(function, "__module__", None)
    if not isinstance(module, str):
        objclass = getattr(function, "__objclass__", None)
        module = getattr(objclass or type(function), "__module__", "")
    return module if isinstance(module, str) else ""


def install(code: TestCode, recorder: Recorder, mode: Mode) -> _Runtime:
    """Make the names of rewritten test code known in this process."""
    runtime = _Runtime(code, recorder, mode)
    setattr(builtins, CALL, runtime.call)
    setattr(builtins, ITEM, runtime.item)
    setattr(builtins, LOOP, runtime.loop)
    return runtime
