"""Derives the stub of a library: `python -m torchdevlint.infer.derive_library WHEEL... --into torchdevlint/stubs/derived`.

The sources in a wheel are read, never imported. What their annotations do not say (`torchdevlint.stubs.derive_library`), the analysis of their
functions and classes does. A module is told to have `parameters` where each tensor that its `forward` takes meets, on every path, what the
module has registered; to be `empty` where it registers nothing and gives back what is on the device of its input; to have `weights` where it
registers parameters and what it does with its inputs cannot be told. A function tells of a common
device of two tensors where they meet on every path.
"""

from __future__ import annotations

import argparse
import ast
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from torchdevlint.infer import classes, devices, tensors
from torchdevlint.infer.analysis import OWN_SELF, Analysis
from torchdevlint.infer.context import Context
from torchdevlint.infer.kept import Kept
from torchdevlint.infer.recorder import Recorder
from torchdevlint.infer.replay import Replay
from torchdevlint.infer.summary import Claim
from torchdevlint.infer.values import (
    HOST,
    MANY,
    NONE,
    NOWHERE,
    Cls,
    Func,
    Place,
    Ref,
    Tensor,
    Term,
    Tup,
    Value,
    options_of,
)
from torchdevlint.program import ir
from torchdevlint.program.project import Project
from torchdevlint.stubs.derive_library import File, Library, is_of_tensors

HEADER = '"""What {} {} does to devices: derived by `torchdevlint.infer.derive_library`, not written by hand."""\n\n'
SELF = "self"


class Evidence(NamedTuple):
    """What every call does: which parameters share a device, and those whose device the result may be on; None where it is on another.

    "self" stands for the device of the module, and the empty name for what is not known.
    """

    parameters: tuple[ir.Parameter, ...]
    together: tuple[frozenset[str], ...]
    result: frozenset[str] | None

    def group(self, name: str) -> frozenset[str]:
        """The parameters on one device with this one."""
        return next((group for group in self.together if name in group), frozenset({name}))


class Sources:
    """The files of a library as a project, and what the analysis knows of them."""

    def __init__(self, folder: str) -> None:
        self._project = Project(folder)
        self._kept = Kept(self._project)
        self._root = Path(folder)

    def of_class(self, file: File, name: str) -> Evidence | None:
        """What `forward` of a class does, with whatever its constructor is given."""
        analysis = self._analysis(file)
        several = analysis.unit.program.classes if analysis is not None else ()
        found = next((one for one in several if one.body.qualname == name), None)
        if analysis is None or found is None or not classes.is_module(analysis, found):
            return None
        ctx = analysis._outside()
        cls = Cls(found, analysis.unit.globals)
        ctx.mute = True
        ref = ctx.new(None, "module", cls, {"@device": HOST}, tag=("open", found))
        with analysis._hearing():
            init = classes.attribute_of(ctx, cls, "__init__", ref)
            if isinstance(init, Func):
                analysis._call_open(ctx, init.body, ref)
            devices.move_module(ctx, ref, OWN_SELF)
            forward = classes.attribute_of(ctx, cls, "forward", ref)
            if not isinstance(forward, Func) or not forward.body.parameters:
                return None
            ctx.mute = False
            return _call(analysis, ctx, forward.body, ref)

    def of_function(self, file: File, name: str) -> Evidence | None:
        """What a function does with tensors."""
        analysis = self._analysis(file)
        bodies = analysis.unit.program.bodies if analysis is not None else ()
        found = next((one for one in bodies if one.qualname == name and one.kind == "function"), None)
        if analysis is None or found is None:
            return None
        with analysis._hearing():
            return _call(analysis, analysis._outside(), found, None)

    def _analysis(self, file: File) -> Analysis | None:
        parts = file.module.split(".")
        below = self._root.joinpath(*parts)
        path = str(below / "__init__.py" if file.is_package else below.with_suffix(".py"))
        program = self._project.program(path)
        unit = self._kept.imports.unit(path) if program is not None else None
        if program is None or unit is None:
            return None
        analysis = Analysis(program, path, kept=self._kept)
        module = analysis.module_of(analysis.unit)
        if module is None:
            return None
        analysis._heap = module.heap
        return analysis


class _Listener(Recorder):
    """Hears of the claims that are made on every path.

    Behind `x = self.norm(x)` where the norm may be an identity, what comes back is where the module is, or where `x` is: `x` meets the module
    in the norm, or in what follows.
    """

    def __init__(self, program: ir.Program) -> None:
        super().__init__(program, ())
        self.met: list[frozenset[str]] = []
        self._sometimes: list[frozenset[str]] = []

    def claimed(self, ctx: Context, claim: Claim, *, met: bool, is_pending: bool, is_reached: bool = True) -> None:
        """Called for each claim; see `Recorder`."""
        if not is_reached or claim.kind != "same" or ctx.mode != "root":
            return
        several = [{_named(place) for place in _places(ctx, one.value)} for one in claim.operands]
        group = frozenset(name for names in several if len(names) == 1 for name in names if name)
        for names in several:
            if SELF in group and len(names) == 2 and any(names <= known for known in self._sometimes):
                group |= names
        self._sometimes.append(group)
        if not ctx.facts:
            self.met.append(group)


def _call(analysis: Analysis, ctx: Context, body: ir.Body, ref: Ref | None) -> Evidence | None:
    summary = analysis.summary(body)
    if summary is None or body.is_generator:
        return None
    parameters = body.parameters[1:] if ref is not None else body.parameters
    given: dict[str, Value] = {}
    for parameter in parameters:
        term = Term("parameter", body, parameter.name)
        given[parameter.name] = Tensor(Term("own", term), MANY) if _may_be_tensor(body, parameter) else term
    if ref is not None:
        given[body.parameters[0].name] = ref
    analysis.recorder = listener = _Listener(analysis.unit.program)
    result = Replay(ctx, summary, body, {**given, "@frame": analysis.unit_of(body).globals}, None).run()
    places = _places(ctx, result)
    is_elsewhere = any(not _named(place) and not _is_open(place) for place in places)
    names = None if is_elsewhere else frozenset(map(_named, places))
    return Evidence(parameters, _joined(listener.met), names)


def _may_be_tensor(body: ir.Body, parameter: ir.Parameter) -> bool:
    """False for a parameter with a number or a word as its default, or that is annotated as something else."""
    default = dict(classes.defaults_of(body)).get(parameter.name)
    if parameter.kind in ("*", "**") or (parameter.default is not None and default is not None and default != NONE):
        return False
    return parameter.annotation is None or is_of_tensors(str(parameter.annotation))


def _places(ctx: Context, value: Value) -> list[Place]:
    """The devices that the tensors in a value may be on, NOWHERE for what is not known to be one."""
    found: list[Place] = []
    for _, option in options_of(value):
        one = tensors.as_tensor(ctx, option)
        if isinstance(one, Tensor):
            found.append(one.device)
        elif isinstance(one, Tup) and one.items:
            found += [place for item in one.items for place in _places(ctx, item)]
        else:
            found.append(NOWHERE)
    return found


def _named(place: Place) -> str:
    """The parameter that is on a device, "self" for the module; "" for any other device."""
    if place == OWN_SELF:
        return SELF
    term = place.args[0] if isinstance(place, Term) and place.op == "own" else None
    return str(term.args[1]) if isinstance(term, Term) and term.op == "parameter" else ""


def _is_open(place: Place) -> bool:
    """True for the device of what an unknown callee gives back."""
    if place == NOWHERE:
        return True
    value = place
    while isinstance(value, Term) and value.op in ("device_of", "own", "attribute", "item", "element"):
        value = value.args[0]
    return isinstance(value, Term) and value.op in ("unknown", "top", "call")


def _joined(several: Sequence[frozenset[str]]) -> tuple[frozenset[str], ...]:
    found: list[frozenset[str]] = []
    for group in several:
        apart = [one for one in found if one.isdisjoint(group)]
        found = [*apart, group.union(*(one for one in found if one not in apart))]
    return tuple(found)


# ---------------------------------------------------------------------------------------------------- entries


class Derived(Library):
    """A library of which the analysis tells what the annotations do not."""

    def __init__(self, wheel: Path, folder: str) -> None:
        super().__init__(wheel)
        self._sources = Sources(folder)

    def holds(self, full: str) -> str:
        """What a class of modules holds."""
        if full not in self._holds:
            told = super().holds(full)
            told = self._inferred(full) if told == "unknown" else told
            self._holds[full] = "weights" if told == "unknown" and self._contents(full) == "parameters" else told
        return self._holds[full]

    def _inferred(self, full: str) -> str:
        known, forward = self.definition(full), self._method(full, "forward")
        evidence = self._sources.of_class(known[0], full.rpartition(".")[2]) if known and forward else None
        if (
            evidence is None
            or forward is None
            or _moves(forward[1])
            or any(one.kind == "*" for one in evidence.parameters)
        ):
            return "unknown"
        taken = [one.name for one in evidence.parameters if one.default is None and one.kind not in ("*", "**")]
        optional = [one.arg for one in _optional(forward[1])]
        if not taken or evidence.result is None:
            return "unknown"
        with_self = evidence.group(SELF)
        known_result = evidence.result - {""}
        is_tensor = known_result == evidence.result or self._is_tensor(forward[0], forward[1].returns)
        if with_self.issuperset([*taken, *optional]) and is_tensor and known_result and known_result <= with_self:
            return "parameters"
        is_plain = len(taken) == 1 and not optional and evidence.result == {taken[0]}
        return "empty" if is_plain and len(with_self) == 1 and self._contents(full) == "empty" else "unknown"

    def _function(self, file: File, full: str, node: ast.FunctionDef) -> str:
        told = super()._function(file, full, node)
        if (
            told
            or (node.args.args and node.args.args[0].arg == SELF)
            or node.decorator_list
            or _moves(node)
            or node.args.vararg is not None
            or node.name.startswith("_")
        ):
            return told
        given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        of_tensors = [one.arg for one in given if self._is_tensor(file, one.annotation)]
        if not of_tensors or not self._is_tensor(file, node.returns):
            return ""
        evidence = self._sources.of_function(file, node.name)
        if evidence is None or not evidence.result or not evidence.result <= evidence.group(min(evidence.result)):
            return ""
        groups = {name: evidence.group(name) for name in of_tensors}
        letters = dict(zip(dict.fromkeys(groups.values()), "defghijk", strict=False))
        if evidence.result.isdisjoint(of_tensors) or len(letters) < len(set(groups.values())):
            return ""
        on = letters[groups[min(evidence.result.intersection(of_tensors))]]
        return _signature(full, node, {name: letters[group] for name, group in groups.items()}, on)


def _signature(full: str, node: ast.FunctionDef, devices_of: dict[str, str], result: str) -> str:
    plain = [*node.args.posonlyargs, *node.args.args]
    required = len(plain) - len(node.args.defaults)

    def written(one: ast.arg, *, optional: bool) -> str:
        typed = f": Tensor @ {devices_of[one.arg]}" if one.arg in devices_of else ""
        return f"{one.arg}{typed}{'=...' if optional else ''}"

    parts = [written(one, optional=at >= required) for at, one in enumerate(plain)]
    if node.args.kwonlyargs:
        defaults = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        parts += ["*", *(written(one, optional=default is not None) for one, default in defaults)]
    return f"def {full}({', '.join(parts)}) -> Tensor[any] @ {result}: ..."


def _optional(node: ast.FunctionDef) -> Iterator[ast.arg]:
    """The parameters of a method that may be left out, and may be tensors."""
    plain = [*node.args.posonlyargs, *node.args.args]
    defaults = [*zip(plain[len(plain) - len(node.args.defaults) :], node.args.defaults, strict=True)]
    defaults += [
        (one, default) for one, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if default
    ]
    for parameter, default in defaults:
        is_none = isinstance(default, ast.Constant) and default.value is None
        if is_none and (parameter.annotation is None or is_of_tensors(ast.unparse(parameter.annotation))):
            yield parameter


def _moves(node: ast.FunctionDef) -> bool:
    """True for a function that moves things itself; a cast is no move."""
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)]
    names = [(one.func.attr, [*one.args, *one.keywords]) for one in calls if isinstance(one.func, ast.Attribute)]
    return any(
        name in ("cuda", "cpu") or (name == "to" and not all("dtype" in ast.unparse(one) for one in given))
        for name, given in names
    )


def main(given: Sequence[str] | None = None) -> None:
    """Writes the stubs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheels", nargs="+", type=Path)
    parser.add_argument("--into", required=True, type=Path)
    parser.add_argument("--offered", action="store_true", help="only the names that the package itself offers")
    arguments = parser.parse_args(given)
    sys.setrecursionlimit(20_000)
    for wheel in arguments.wheels:
        with tempfile.TemporaryDirectory() as folder:
            zipfile.ZipFile(wheel).extractall(folder)
            library = Derived(wheel, folder)
            text = "\n".join(sorted(set(library.offered() if arguments.offered else library.entries())))
        path = arguments.into / f"{library.name}.stub"
        path.write_text(HEADER.format(library.name, library.version) + text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
