"""What the person who starts a program tells it: options of the command line, and variables of the environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchdevlint.infer.paths import PARSES_OPTIONS, last_name
from torchdevlint.infer.values import Ext, Place, Term, Value, join

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

_OF_PROCESS = frozenset({"os.environ", "sys.argv"})
_READS = frozenset({"attribute", "item", "unpack", "element"})


def is_option(value: object) -> bool:
    """True for `parser.parse_args().device` and `os.environ["DEVICE"]`, however the program hands them on."""
    is_part = False
    while isinstance(value, Term):
        if value.op == "call":
            return is_part and last_name(value.args[0]) in PARSES_OPTIONS
        if value.op not in _READS:
            return False
        value, is_part = value.args[0], True
    return is_part and isinstance(value, Ext) and value.name in _OF_PROCESS


def is_told(place: Place) -> bool:
    """True for the device that an option names: the user chooses it, and may choose a GPU."""
    return isinstance(place, Term) and place.op == "as_device" and is_option(place.args[0])


def remember(ctx: Context, keywords: dict[str, Value]) -> None:
    """`parser.set_defaults(run=train)`: what options are that nobody writes on the command line."""
    rec = ctx.heap.get(ctx.analysis.settings)
    for name, value in keywords.items():
        known = rec.fields.get(_DEFAULT + name) if rec is not None else None
        ctx.put(ctx.analysis.settings, _DEFAULT + name, value if known is None else join(known, value))


def remembered(ctx: Context, value: Term, name: str) -> Value | None:
    """The default of an option, where the program has set it for a parser."""
    options = value.args[0] if value.op in ("item", "unpack") else value
    rec = ctx.heap.get(ctx.analysis.settings)
    if (
        rec is None
        or not isinstance(options, Term)
        or options.op != "call"
        or last_name(options.args[0]) not in PARSES_OPTIONS
    ):
        return None
    return rec.fields.get(_DEFAULT + name)


_DEFAULT = ".@option "


__all__ = ["is_option", "is_told", "remember", "remembered"]
