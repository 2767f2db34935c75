"""A repair of the failing line from its text alone, for lines that no rule repairs: small, and only where the text leaves no choice."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from torchdevlint.explain.evidence import Value


def suggest(cause: str, text: str, values: tuple[Value, ...] = ()) -> str | None:
    """The line's new text, None where it is not plain what to write. `values` are those of the line that are known."""
    bare = text.strip()
    made = _BY_CAUSE[cause](bare, values) if cause in _BY_CAUSE and len(bare) < 500 else None
    if made is None or made == bare or _tree(made) is None:
        return None
    return made


def _tree(text: str) -> ast.Module | None:
    """The tree of a line, which may open a block."""
    for candidate in (text, text + " pass"):
        try:
            return ast.parse(candidate)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def _calls(text: str) -> list[ast.Call]:
    tree = _tree(text)
    return (
        [node for node in ast.walk(tree) if isinstance(node, ast.Call)] if tree is not None and text.isascii() else []
    )


def _numpy(text: str, _: tuple[Value, ...]) -> str | None:
    """`x.numpy()` as `x.cpu().numpy()`."""
    return re.sub(r"(?<!\.cpu\(\))\.numpy\(", ".cpu().numpy(", text) if text.count(".numpy(") == 1 else None


def _load(text: str, _: tuple[Value, ...]) -> str | None:
    """`torch.load(path)` with `map_location="cpu"`."""
    found = [call for call in _calls(text) if ast.unparse(call.func) in ("torch.load", "torch.jit.load")]
    if len(found) != 1 or len(found[0].args) > 1 or any(one.arg in ("map_location", None) for one in found[0].keywords):
        return None
    end = found[0].end_col_offset
    return None if end is None else text[: end - 1].rstrip().rstrip(",") + ', map_location="cpu")' + text[end:]


def _lengths(text: str, _: tuple[Value, ...]) -> str | None:
    """The lengths of `pack_padded_sequence` with `.cpu()`."""
    found = [call for call in _calls(text) if ast.unparse(call.func).split(".")[-1] == "pack_padded_sequence"]
    if len(found) != 1:
        return None
    call = found[0]
    named = [one.value for one in call.keywords if one.arg == "lengths"]
    given = named[0] if named else call.args[1] if len(call.args) > 1 else None
    if not isinstance(given, (ast.Name, ast.Attribute)) or given.end_col_offset is None:
        return None
    return text[: given.end_col_offset] + ".cpu()" + text[given.end_col_offset :]


def _move(text: str, values: tuple[Value, ...]) -> str | None:
    """The one operand that is known to be on the CPU, moved to the device of another."""
    left = [value for value in values if value.device == "cpu" and value.told.startswith("tensor")]
    others = [value for value in values if value.device != "cpu" and value.told.startswith("tensor")]
    if len(left) != 1 or not others or not re.fullmatch(r"\w+(?:\.\w+)*", others[0].expression):
        return None
    expression = re.escape(left[0].expression)
    if len(re.findall(rf"(?<![\w.]){expression}(?![\w.(\[])", text)) != 1:
        return None
    return re.sub(
        rf"(?<![\w.]){expression}(?![\w.(\[])", lambda found: f"{found[0]}.to({others[0].expression}.device)", text
    )


_BY_CAUSE: Final[dict[str, Callable[[str, tuple[Value, ...]], str | None]]] = {
    "numpy": _numpy,
    "load-location": _load,
    "cpu-argument": _lengths,
    "tensor-left-behind": _move,
}
