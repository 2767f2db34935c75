"""In every Python process of a verified program: swaps source texts, notes which lines ran, tells how it ended.

TORCHDEVLINT_VERIFY names a folder with `plan.json`: `{"files": {path: {"text": file, "marks": [[number, row, column, probe],
...]}}}`. What happens is appended to `events.jsonl` there. This file shadows the user's own sitecustomize, so that one runs too.
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
_REACHED, _SEEN = "__torchdevlint_reached__", "__torchdevlint_seen__"


class Overlay:
    """The swapped texts, by real path."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.files = {os.path.realpath(path): entry for path, entry in plan["files"].items()}
        self.names = {os.path.basename(path) for path in self.files}
        self.told: set[Any] = set()

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


def place_mark(tree: Any, lines: list[str], number: int, row: int, column: int, probe: bool) -> None:
    """Before the innermost statement at a place, note that it is reached; with `probe`, also the expression's value."""
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
    call = ast.Call(ast.Name(_REACHED, ast.Load()), [ast.Constant(number)], [])
    block.insert(block.index(statement), ast.copy_location(ast.Expr(call), statement))


def _holds(node: Any, row: int, column: int) -> bool:
    start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return bool(start <= (row, column) < end)


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
