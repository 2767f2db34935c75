"""The builders of edits under names that import them when the first edit is built: they need LibCST, which most runs never load."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["builders", "statements"]

if TYPE_CHECKING:
    from torchdevlint.fixes import builders, statements
else:
    from importlib import import_module

    class _Module:
        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> object:
            return getattr(import_module(self._name), name)

    builders = _Module("torchdevlint.fixes.builders")
    statements = _Module("torchdevlint.fixes.statements")
