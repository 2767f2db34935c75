"""Derives the stub of the installed torch: `python -m torchdevlint.stubs.derive > torchdevlint/stubs/derived/torch.stub`.

Sources: the native_functions.yaml inside the wheel (operators, by the same parser that made torch itself) and the annotations of
`torch/nn/functional.py`. What these cannot say (ranks, arguments that may stay elsewhere) is in `written/torch.stub`, by hand.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HEADER = '''"""What the operators of torch {version} do to devices: derived by `torchdevlint.stubs.derive`, not written by hand.

`Tensor @ d`: the tensors of one `d` share a device. `~d`: or a zero-dimensional tensor on the CPU. `Tensor[0]`: of rank 0.
"""
'''
_HOMES = {"linalg_": "torch.linalg.", "fft_": "torch.fft.", "special_": "torch.special."}
_FULL_REDUCTIONS = frozenset(
    "sum mean prod max min std var median nanmedian any all argmax argmin amax amin nansum nanmean trace norm count_nonzero aminmax".split()
)
_SKIPPED = re.compile(r"_|.*_backward|.*_copy\Z|.*_for_|cudnn|miopen|mkldnn|quantize|fbgemm|sym_|sspaddmm|.*_jvp\Z")


class Argument(NamedTuple):
    """A parameter of an operator: `kind` is "Tensor", "list[Tensor]", "Scalar", "Device" or "" for what no device depends on."""

    name: str
    kind: str
    keyword_only: bool
    optional: bool
    written: bool = False


class Overload(NamedTuple):
    """One overload; `exact` where the dispatcher wants all tensors on one device and lets no zero-dimensional one through."""

    arguments: tuple[Argument, ...]
    result: str
    exact: bool


def main() -> None:
    """Prints the stub."""
    import torch

    print(HEADER.format(version=torch.__version__.partition("+")[0]))
    functions, methods = _operators()
    for name in sorted(functions):
        for overload in _merged(functions[name]):
            print(_line(name, overload))
    for name in sorted(set(methods) - {name.removeprefix("torch.") for name in functions}):
        for overload in _merged(methods[name]):
            print(_line("torch.Tensor." + name, overload))
    for line in _functional(set(functions)):
        print(line)
    print(f'torch.Tensor.methods = "{" ".join(sorted(methods))}"')
    for name, what in sorted(_module_classes()):
        print(f"class {name}(Module): {what}")


def _operators() -> tuple[dict[str, list[Overload]], dict[str, list[Overload]]]:
    """The operators that are functions, and those that are methods, of Python's torch: `slice` and `set_data` are some in C++ alone."""
    import torch
    import torchgen  # type: ignore[import-untyped]
    from torchgen.gen import parse_native_yaml  # type: ignore[import-untyped]
    from torchgen.model import DeviceCheckType, Variant  # type: ignore[import-untyped]

    folder = Path(torchgen.__path__[0]) / "packaged" / "ATen" / "native"
    parsed = parse_native_yaml(str(folder / "native_functions.yaml"), str(folder / "tags.yaml"))
    functions: dict[str, list[Overload]] = defaultdict(list)
    methods: dict[str, list[Overload]] = defaultdict(list)
    for native in parsed.native_functions:
        name = str(native.func.name.name)
        if _SKIPPED.match(name) or native.func.is_out_fn():
            continue
        overload = _overload(native, native.device_check is DeviceCheckType.ExactSame)
        home = next((home for prefix, home in _HOMES.items() if name.startswith(prefix)), None)
        if home is not None:
            functions[home + name.partition("_")[2]].append(overload)
        elif native.python_module == "nn":
            functions["torch.nn.functional." + name].append(overload)
        elif Variant.function in native.variants and hasattr(torch, name):
            functions["torch." + name].append(overload)
        if Variant.method in native.variants and hasattr(torch.Tensor, name):
            methods[name].append(overload)
    return functions, methods


def _overload(native: Any, exact: bool) -> Overload:
    schema = native.func
    found = []
    for argument in schema.arguments.flat_non_out:
        kind = _kind(str(argument.type), argument.name)
        name = "input" if argument.name == "self" else argument.name
        keyword_only = argument in schema.arguments.flat_kwarg_only
        optional = argument.default is not None or str(argument.type).endswith("?")
        written = argument.annotation is not None and argument.annotation.is_write
        found.append(Argument(name, kind, keyword_only, optional, written))
    name = str(schema.name.name)
    is_full = name in _FULL_REDUCTIONS and len([a for a in found if a.kind == "Tensor"]) == 1
    is_full = is_full and not any(argument.name in ("dim", "axis") and not argument.optional for argument in found)
    return Overload(tuple(found), _result(schema, is_full), exact)


def _kind(written: str, name: str) -> str:
    if written in ("Tensor", "Tensor?"):
        return "Tensor"
    if written.startswith("Tensor"):
        return "list[Tensor]"
    if written.startswith("Device"):
        return "Device"
    return "Scalar" if written.rstrip("?") in ("Scalar", "float", "int", "SymInt", "bool") else ""


def _result(schema: Any, is_full: bool) -> str:
    returns = schema.returns
    has_tensor = any(str(a.type).startswith("Tensor") for a in schema.arguments.flat_non_out)
    device = "d" if has_tensor else "device"
    rank = "[0]" if is_full else ""
    if len(returns) == 1:
        kind = str(returns[0].type)
        if returns[0].annotation is not None and returns[0].annotation.is_write:
            return "Self"
        if kind == "Tensor":
            return f"Tensor{rank} @ {device}"
        return f"list[Tensor @ {device}]" if kind.startswith("Tensor") else "Scalar"
    if not returns:
        return "None"
    parts = [
        f"{r.name or f'part{at}'}=Tensor{rank} @ {device}"
        if str(r.type) == "Tensor"
        else f"{r.name or f'part{at}'}=Scalar"
        for at, r in enumerate(returns)
    ]
    return f"Result({', '.join(parts)})"


def _merged(overloads: list[Overload]) -> Iterator[Overload]:
    """Overloads whose parameters have the same names are one; a parameter is a tensor where one of them says so."""
    by_names: dict[tuple[str, ...], list[Overload]] = defaultdict(list)
    for overload in overloads:
        names = (overload.result, *(argument.name for argument in overload.arguments))
        key = next((known for known in by_names if known[: len(names)] == names[: len(known)]), names)
        by_names[key].append(overload)
    for group in by_names.values():
        longest = max(group, key=lambda overload: len(overload.arguments))
        arguments = []
        for at, argument in enumerate(longest.arguments):
            same = [overload.arguments[at] for overload in group if len(overload.arguments) > at]
            tensor = next((one for one in same if "Tensor" in one.kind), argument)
            arguments.append(
                argument._replace(
                    kind=tensor.kind, optional=any(one.optional for one in same) or len(same) < len(group)
                )
            )
        tensors = [
            overload for overload in group if sum("Tensor" in argument.kind for argument in overload.arguments) > 1
        ]
        yield Overload(tuple(arguments), longest.result, all(overload.exact for overload in tensors or group))


def _line(name: str, overload: Overload) -> str:
    parts, starred = [], False
    several = sum("Tensor" in argument.kind for argument in overload.arguments) > 1 or any(
        argument.kind == "list[Tensor]" for argument in overload.arguments
    )
    optional = False
    for argument in overload.arguments:
        if argument.keyword_only and not starred:
            parts.append("*")
            starred, optional = True, False
        optional = argument.optional or (optional and not starred)
        kind = argument.kind
        if "Tensor" in kind:
            device = "d" if overload.exact or argument.written or not several else "~d"
            kind = f"list[Tensor @ {device}]" if kind.startswith("list") else f"Tensor @ {device}"
        name_of = argument.name + "_" * keyword.iskeyword(argument.name)
        parts.append(name_of + (f": {kind}" if kind else "") + ("=..." if optional else ""))
    return f"def {name}({', '.join(parts)}) -> {overload.result}: ..."


def _functional(known: set[str]) -> Iterator[str]:
    """`torch.nn.functional`: functions by their annotations, and the names that it gives to operators."""
    import inspect

    import torch.nn.functional as functional

    written = {line for line in known if line.startswith("torch.nn.functional.")}
    statements = ast.parse(inspect.getsource(functional)).body
    private = {statement.name: statement for statement in statements if isinstance(statement, ast.FunctionDef)}
    for statement in statements:
        if isinstance(statement, ast.FunctionDef) and not statement.name.startswith("_"):
            name = "torch.nn.functional." + statement.name
            if name not in written and "overload" not in ast.unparse(
                (statement.decorator_list and statement.decorator_list[0]) or ast.Name("x")
            ):
                written.add(name)
                line = _function_line(name, statement)
                if "Tensor @ d" in line.partition(" -> ")[0]:  # helpers of the module take none
                    yield line
        elif (
            isinstance(statement, ast.Assign)
            and isinstance(statement.value, ast.Call)
            and isinstance(statement.targets[0], ast.Name)
        ):
            target = ast.unparse(statement.value.args[0]) if statement.value.args else ""
            name = "torch.nn.functional." + statement.targets[0].id
            if re.fullmatch(r"torch\.\w+", target) and target in known and name not in written:
                yield f"{name} = {target}"
            elif target.startswith("torch._C._nn.") and name not in known:
                source = "torch.nn.functional." + target.rpartition(".")[2]
                if source in known:
                    yield f"{name} = {source}"
        if (
            isinstance(statement, ast.Assign)
            and isinstance(statement.value, ast.Call)
            and "boolean_dispatch" in ast.unparse(statement.value.func)
        ):
            plain = next(ast.unparse(k.value) for k in statement.value.keywords if k.arg == "if_false")
            yield _function_line(f"torch.nn.functional.{ast.unparse(statement.targets[0])}", private[plain])


def _function_line(name: str, function: ast.FunctionDef) -> str:
    given = function.args
    arguments = []
    defaults = [None] * (len(given.args) - len(given.defaults)) + list(given.defaults)
    for argument, default in [
        *zip(given.args, defaults, strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]:
        # Old functions have no annotations; their `input` is a tensor as everywhere in torch.nn.functional.
        plain = "Tensor" if argument.arg == "input" else ""
        annotation = ast.unparse(argument.annotation) if argument.annotation is not None else plain
        kind = (
            ("list[Tensor]" if re.search(r"[Ll]ist\[Tensor|[Tt]uple\[Tensor", annotation) else "Tensor")
            if "Tensor" in annotation
            else ""
        )
        arguments.append(Argument(argument.arg, kind, argument in given.kwonlyargs, default is not None))
    returns = ast.unparse(function.returns) if function.returns is not None else "Tensor"
    count = returns.count("Tensor")
    result = "Tensor @ d" if count <= 1 else "Result(" + ", ".join(f"part{at}=Tensor @ d" for at in range(count)) + ")"
    return _line(name, Overload(tuple(arguments), result, True))


def _module_classes() -> Iterator[tuple[str, str]]:
    """Classes of torch.nn and whether they hold parameters or buffers, by the sources of them and their bases."""
    import inspect

    import torch

    for name, cls in vars(torch.nn).items():
        if isinstance(cls, type) and issubclass(cls, torch.nn.Module):
            sources = [
                inspect.getsource(base)
                for base in cls.__mro__
                if base not in (torch.nn.Module, object) and base.__module__.startswith("torch.nn")
            ]
            text = "\n".join(re.sub(r'"""(?:.|\n)*?"""', "", source) for source in sources)
            holds = re.search(
                r"Parameter\(|register_parameter\(|in_proj_weight|weight_ih|Linear\(|\bfactory_kwargs\b", text
            )
            buffers = re.search(r"register_buffer\(", text)
            yield f"torch.nn.{name}", "parameters" if holds else "buffers" if buffers else "empty"


if __name__ == "__main__":
    main()
