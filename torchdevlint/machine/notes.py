"""Things that the machine did otherwise than a GPU would, told once each."""

from __future__ import annotations

import warnings

NOTES: list[str] = []


class MachineWarning(UserWarning):
    """The virtual machine departs from a real one here."""


def note(text: str) -> None:
    """Keep a note for the report, and warn the first time."""
    if text not in NOTES:
        NOTES.append(text)
        warnings.warn(text, MachineWarning, stacklevel=3)
