"""How bad a finding is. In a module of its own, since settings need it before any finding is made."""

from __future__ import annotations

import enum


class Severity(enum.IntEnum):
    """How bad a finding is; ordered, so that a level can filter."""

    INFO = 0
    WARNING = 1
    ERROR = 2

    @property
    def label(self) -> str:
        """The lower-case name that reports and settings use."""
        return self.name.lower()

    @classmethod
    def from_label(cls, label: str) -> Severity:
        """The severity called `label`; raises `KeyError` for a word that names none."""
        return cls[label.upper()]
