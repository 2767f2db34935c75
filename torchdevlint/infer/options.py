"""What the person who starts a program tells it: options of the command line, and variables of the environment."""

from __future__ import annotations

from torchdevlint.infer.paths import PARSES_OPTIONS, last_name
from torchdevlint.infer.values import Ext, Place, Term

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


__all__ = ["is_option", "is_told"]
