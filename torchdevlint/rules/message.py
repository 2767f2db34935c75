"""How long a message may be: what is wrong and what to do, in one line that no editor cuts off."""

from __future__ import annotations

import re

MOST_CHARACTERS = 110
_LEAST_NAME = 9  # a name is not cut below this: `x...y` says nothing
_NAME = re.compile(r"`[^`]*`")
_OF_TORCH = re.compile(r"(torch(?:\.\w+)+)(?:\(\.\.\.\))?")
_NAMED_TWICE = re.compile(r"(\bon the device of `([^`]*)`.*; )create it with `device=\2\.device`\Z")
_CUT = "..."


def bounded(message: str) -> str:
    """The message in at most 110 characters.

    Where the advice repeats a device that the message has named, it says "there". Names between backquotes lose the modules of torch in front or are
    cut in the middle, the longest first: those of the fault, then those of the advice (behind the last semicolon); where that is not enough the end is cut.
    """
    if len(message) > MOST_CHARACTERS:
        message = _NAMED_TWICE.sub(r"\1create it there", message)
    while len(message) > MOST_CHARACTERS:
        advice = message.rfind("; ")
        names = [found for found in _NAME.finditer(message) if len(found[0]) - 2 > _LEAST_NAME]
        cut = max(names, key=lambda found: (found.start() < advice, len(found[0])), default=None)
        if cut is None:
            return message[: MOST_CHARACTERS - len(_CUT)] + _CUT
        name = cut[0][1:-1]
        size = max(_LEAST_NAME, len(name) - (len(message) - MOST_CHARACTERS))
        message = f"{message[: cut.start()]}`{shortened_name(name, size)}`{message[cut.end() :]}"
    return message


def shortened_name(name: str, size: int) -> str:
    """A name or an expression in at most `size` characters (9 or more): a name of torch without its modules, another with dots for its middle."""
    if len(name) <= size:
        return name
    of_torch = _OF_TORCH.fullmatch(name)
    for dot in re.finditer(r"\.", of_torch[1]) if of_torch else ():
        if len(name) - dot.end() <= size:
            return name[dot.end() :]
    kept = size - len(_CUT)
    return name[: kept - kept // 2] + _CUT + name[len(name) - kept // 2 :]
