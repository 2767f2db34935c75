"""Colours for a terminal, or none."""

from __future__ import annotations

from typing import NamedTuple

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}
WIDTH = 112  # a message of 110 characters fits, two columns to the right
SEVERITY_COLOURS = {"error": "red", "warning": "yellow", "info": "blue"}


class Style(NamedTuple):
    """Paints text with ANSI codes when `colour` is true. `unsafe_fixes`: fixes marked unsafe count as fixable.

    `terminal`: a person reads the lines, no program. `problems`: what could not be checked, as sentences. `width`: where lines of prose end.
    `quiet`: no summary.
    """

    colour: bool = False
    unsafe_fixes: bool = False
    terminal: bool = False
    problems: tuple[str, ...] = ()
    width: int = WIDTH
    quiet: bool = False

    def paint(self, text: str, *names: str) -> str:
        """The text in the named colours."""
        if not self.colour or not text:
            return text
        return f"\x1b[{';'.join(_CODES[name] for name in names)}m{text}\x1b[0m"
