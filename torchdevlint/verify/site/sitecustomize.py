"""In every Python process of a verified program: swaps source texts, notes which lines ran, tells how it ended.

TORCHDEVLINT_VERIFY names a folder with `plan.json`: `{"files": {path: {"text": file, "marks": [[number, row, column, probe,
operands], ...], "observe": name}}}`. With `observe`, what parameters and assigned names hold is noted under that name. What happens is appended
to `events.jsonl` there. This file shadows the user's own sitecustomize, so that one runs too.
Nothing of torchdevlint is imported here: the program may run under another interpreter.
"""

# pathlib would slow every child's start.
# ruff: noqa: PTH100, PTH112, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import ast
import faulthandler
import importlib.machinery
import importlib.util
import json
import os
import signal
import sys

TYPE_CHECKING = False  # importing typing costs every child a few milliseconds
if TYPE_CHECKING:
    from typing import Any

FOLDER = os.environ.get("TORCHDEVLINT_VERIFY", "")
_BOOT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "boot.py")
_REACHED, _SEEN, _OBSERVED = "__torchdevlint_reached__", "__torchdevlint_seen__", "__torchdevlint_observed__"
_OPERAND = "__torchdevlint_operand__"


class Overlay:
    """The swapped texts, by real path."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.files = {os.path.realpath(path): entry for path, entry in plan["files"].items()}
        self.names = {os.path.basename(path) for path in self.files}
        self.told: set[Any] = set()
        self.places: list[tuple[str, int, str]] = []

    def find(self, path: str) -> Any:
        """The entry of a file, None when it is not swapped. A look at the name spares most files the system calls."""
        if os.path.basename(path) not in self.names:
            return None
        return self.files.get(os.path.realpath(path))

    def compile(self, path: str, entry: dict[str, Any]) -> Any:
        """The code of a swapped file, with its marks. `path` becomes its file name, as without us."""
        with open(entry["text"], "rb") as file:
            source = importlib.util.decode_source(file.read())
        self.keep_lines(path, source)
        tree = ast.parse(source, path)
        lines = source.splitlines(keepends=True)
        for mark in entry["marks"]:
            place_mark(tree, lines, *mark)
        if entry.get("observe"):
            place_recorders(tree, entry["observe"], self.places)
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)

    @staticmethod
    def keep_lines(path: str, source: str) -> None:
        """Tracebacks and inspect.getsource read linecache: give them the swapped text (no mtime: it is not checked)."""
        import linecache

        linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)

    def reached(self, number: int) -> None:
        if number not in self.told:
            self.told.add(number)
            tell({"reached": number})

    def seen(self, number: int, value: Any) -> Any:
        if ("seen", number) not in self.told:
            self.told.add(("seen", number))
            tell({"seen": number, "value": describe(value)})
        return value

    def operand(self, number: int, name: str, value: Any) -> Any:
        """Where a tensor that a line reads lives, once for each device."""
        try:
            kind, device = sighting(value)
        except Exception:
            kind, device = "", ""
        if kind == "tensor" and ("operand", number, name, device) not in self.told:
            self.told.add(("operand", number, name, device))
            tell({"operand": number, "name": name, "device": device})
        return value

    def observed(self, number: int, value: Any) -> None:
        """Once for each different thing that a name holds. Nothing that the program could notice may come of it."""
        try:
            kind, device = sighting(value)
        except Exception:
            kind, device = "other", ""
        if kind and (number, kind, device) not in self.told:
            self.told.add((number, kind, device))
            tell({"observed": self.places[number], "kind": kind, "device": device})


def sighting(value: Any) -> tuple[str, str]:
    """("tensor" or "module", its device), ("other", "") for anything else, ("", "") where nothing can be said. Runs no code of the program."""
    torch = sys.modules.get("torch")
    kind = type(value)
    if value is None:
        return "", ""
    if issubclass(kind, getattr(torch, "Tensor", ())):
        device = tensor_device(torch, value)
        return ("tensor", device) if device else ("", "")
    if issubclass(kind, getattr(getattr(torch, "nn", None), "Module", ())):
        waiting, known = [value], {id(value)}
        devices: set[str] = set()
        while waiting and len(devices) < 2:
            fields = waiting.pop().__dict__
            held = [*fields.get("_parameters", {}).values(), *fields.get("_buffers", {}).values()]
            devices |= {tensor_device(torch, tensor) for tensor in held if tensor is not None}
            parts = [part for part in fields.get("_modules", {}).values() if part is not None and id(part) not in known]
            known.update(map(id, parts))
            waiting += parts
        return "module", devices.pop() if len(devices) == 1 else ""
    return "other", ""


def tensor_device(torch: Any, tensor: Any) -> str:
    """The device, "" where reading it would settle it (a virtual GPU's wildcard)."""
    with torch._C.DisableTorchFunction():  # neither subclasses nor modes hear of it
        tags = sys.modules.get("torchdevlint.machine.tags")
        if tags is not None and tags.tag_of(tensor) is tags.WILD:
            return ""
        return str(torch.Tensor.device.__get__(tensor))


def tell(event: dict[str, Any]) -> None:
    """Append an event; processes and threads share the file, and a short append is atomic."""
    event["pid"] = os.getpid()
    try:
        descriptor = os.open(os.path.join(FOLDER, "events.jsonl"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, json.dumps(event).encode() + b"\n")
        finally:
            os.close(descriptor)
    except OSError:
        pass  # nobody reads any more


def describe(value: Any, depth: int = 2) -> str:
    """What matters of a value: its type, where its tensors live, a plain answer."""
    if isinstance(value, (bool, int, str, type(None))):
        return repr(value)[:80]
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return f"{type(value).__name__} on {value.device}"
    if depth and isinstance(value, dict):
        return f"{type(value).__name__} of {_parts(value.values(), depth)}"
    if depth and isinstance(value, (list, tuple)):
        return f"{type(value).__name__} of {_parts(value, depth)}"
    return type(value).__name__


def _parts(values: Any, depth: int) -> str:
    return ", ".join(sorted({describe(value, depth - 1) for value in list(values)[:200]})) or "nothing"


def place_mark(
    tree: Any, lines: list[str], number: int, row: int, column: int, probe: bool, operands: bool = False
) -> None:
    """Before the innermost statement at a place, note that it is reached; with `probe`, also the expression's value; with
    `operands`, where the tensors live that the statement reads."""
    column = len(lines[row - 1][: column - 1].encode()) if row <= len(lines) else 0
    found: tuple[list[Any], ast.stmt] | None = None
    for parent in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(parent, field, None)
            if not isinstance(block, list):  # the body of a lambda or of `a if b else c` is an expression
                continue
            holding = next((s for s in block if isinstance(s, ast.stmt) and _holds(s, row, column)), None)
            if holding is not None and (found is None or holding.lineno >= found[1].lineno):
                found = (block, holding)
    if found is None:
        return
    block, statement = found
    if probe:
        _probe(statement, number, row, column)
    if operands:
        _wrap_operands(statement, number)
    call = ast.Call(ast.Name(_REACHED, ast.Load()), [ast.Constant(number)], [])
    block.insert(block.index(statement), ast.copy_location(ast.Expr(call), statement))


def place_recorders(tree: Any, file: str, places: list[tuple[str, int, str]]) -> None:
    """Note what each parameter holds at the start, and each name behind its assignment (loops and `with`: at the start of the block)."""

    def recorders(names: list[Any], at: Any) -> list[Any]:
        made = []
        for name, row in names:
            places.append((file, row, name))
            call = ast.Call(
                ast.Name(_OBSERVED, ast.Load()), [ast.Constant(len(places) - 1), ast.Name(name, ast.Load())], []
            )
            made.append(ast.copy_location(ast.Expr(call), at))
        return made

    parents: list[Any] = list(ast.walk(tree))
    for parent in parents:
        if isinstance(parent, ast.ClassDef):
            continue
        for field in ("body", "orelse", "finalbody"):
            block = getattr(parent, field, None)
            if isinstance(block, list):
                block[:] = [new for old in block for new in (old, *recorders(_assigned(old), old))]
        first = recorders(_bound_on_entry(parent), parent)
        if first:
            behind = int(isinstance(parent, _FUNCTIONS) and ast.get_docstring(parent, clean=False) is not None)
            parent.body[behind:behind] = first


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _assigned(statement: Any) -> list[Any]:
    if isinstance(statement, ast.Assign):
        return [found for target in statement.targets for found in _names(target)]
    if isinstance(statement, ast.AugAssign) or (isinstance(statement, ast.AnnAssign) and statement.value is not None):
        return _names(statement.target)
    return []


def _bound_on_entry(node: Any) -> list[Any]:
    if isinstance(node, _FUNCTIONS):
        given = node.args
        return [(one.arg, node.lineno) for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return _names(node.target)
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return [found for item in node.items if item.optional_vars is not None for found in _names(item.optional_vars)]
    return []


def _names(target: Any) -> list[Any]:
    """The plain names of a target with their rows."""
    if isinstance(target, ast.Name):
        return [(target.id, target.lineno)]
    if isinstance(target, ast.Starred):
        return _names(target.value)
    return [found for part in getattr(target, "elts", ()) for found in _names(part)]


def _holds(node: Any, row: int, column: int) -> bool:
    start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return bool(start <= (row, column) < end)


_APART = (ast.stmt, ast.Lambda, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp, ast.pattern)


def _wrap_operands(node: Any, number: int) -> None:
    """Let each name and attribute that a statement itself reads (not its blocks) tell where it lives. What is called is left alone."""
    for field, value in ast.iter_fields(node):
        for index, part in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(part, ast.AST) or isinstance(part, _APART):
                continue
            called = isinstance(node, ast.Call) and field == "func"
            readable = isinstance(part, (ast.Name, ast.Attribute)) and isinstance(part.ctx, ast.Load) and not called
            if not readable:
                _wrap_operands(part, number)
                continue
            arguments: list[Any] = [ast.Constant(number), ast.Constant(ast.unparse(part)), part]
            told = ast.copy_location(ast.Call(ast.Name(_OPERAND, ast.Load()), arguments, []), part)
            if isinstance(value, list):
                value[index] = told
            else:
                setattr(node, field, told)


def _probe(statement: ast.stmt, number: int, row: int, column: int) -> None:
    """Wrap the largest expression that begins at the place."""
    for parent in ast.walk(statement):
        for field, value in ast.iter_fields(parent):
            for index, node in enumerate(value if isinstance(value, list) else [value]):
                readable = isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
                if not readable or (node.lineno, node.col_offset) != (row, column) or isinstance(node, ast.Starred):
                    continue
                call = ast.copy_location(ast.Call(ast.Name(_SEEN, ast.Load()), [ast.Constant(number), node], []), node)
                if isinstance(value, list):
                    value[index] = call
                else:
                    setattr(parent, field, call)
                return


def swap(overlay: Overlay) -> None:
    """Let every way in which Python reads a program's source find the swapped text."""
    import builtins
    import runpy

    setattr(builtins, _REACHED, overlay.reached)
    setattr(builtins, _SEEN, overlay.seen)
    setattr(builtins, _OBSERVED, overlay.observed)
    setattr(builtins, _OPERAND, overlay.operand)
    loader = importlib.machinery.SourceFileLoader
    get_code = loader.get_code

    def get_swapped_code(self: Any, fullname: str) -> Any:
        path = self.get_filename(fullname)
        entry = overlay.find(path)
        return get_code(self, fullname) if entry is None else overlay.compile(path, entry)

    loader.get_code = get_swapped_code  # type: ignore[method-assign]
    read_code = runpy._get_code_from_file  # type: ignore[attr-defined]  # spawned workers read the main script through it

    def read_swapped_code(*args: Any) -> Any:
        entry = overlay.find(os.fsdecode(args[-1]))
        if entry is None:
            return read_code(*args)
        code = overlay.compile(os.fsdecode(args[-1]), entry)
        return code if sys.version_info >= (3, 12) else (code, args[-1])

    runpy._get_code_from_file = read_swapped_code  # type: ignore[attr-defined]
    sys.addaudithook(lambda event, args: _start_through_boot(overlay, args) if event == "subprocess.Popen" else None)


def _start_through_boot(overlay: Overlay, args: Any) -> None:
    """`python train.py` reads its script in C: start a swapped one through boot.py. The list is the one that is run."""
    executable, command = args[0], args[1]
    if not isinstance(command, list) or not os.path.basename(os.fsdecode(executable or command[0])).startswith(
        "python"
    ):
        return
    for index, word in enumerate(command[1:], 1):
        word = os.fsdecode(word)
        if word == _BOOT or word in ("-c", "-m", "-"):
            return
        if not word.startswith("-"):
            if overlay.find(os.path.join(os.fsdecode(args[2] or "."), word)) is not None:
                command.insert(index, _BOOT)
            return


def tell_the_end() -> None:
    """An uncaught error is told with its lines; a signal makes the process write down what it does."""
    original = sys.excepthook

    def excepthook(kind: Any, error: Any, traceback: Any) -> None:
        frames = []
        walk = traceback
        while walk is not None:
            frames.append([walk.tb_frame.f_code.co_filename, walk.tb_lineno])
            walk = walk.tb_next
        if not issubclass(kind, KeyboardInterrupt):
            tell({"uncaught": {"kind": kind.__name__, "message": str(error)[:4000], "frames": frames[-60:]}})
        original(kind, error, traceback)

    sys.excepthook = excepthook
    if hasattr(faulthandler, "register"):
        stack = open(os.path.join(FOLDER, f"stack-{os.getpid()}.txt"), "w")  # noqa: SIM115 - open as long as we live
        faulthandler.register(signal.SIGUSR2, file=stack, all_threads=True)


def run_next() -> None:
    """The sitecustomize that this file hides."""
    here = os.path.dirname(os.path.abspath(__file__))
    ours = (here, os.path.join(os.path.dirname(os.path.dirname(here)), "machine", "site"))
    others = [entry for entry in sys.path if os.path.abspath(entry or ".") not in ours]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if FOLDER and os.path.isdir(FOLDER):
    with open(os.path.join(FOLDER, "plan.json"), encoding="utf-8") as _file:
        OVERLAY = Overlay(json.load(_file))
    tell_the_end()
    if OVERLAY.files:
        swap(OVERLAY)
    import builtins as _builtins

    _builtins.__torchdevlint_overlay__ = OVERLAY  # type: ignore[attr-defined]
run_next()
