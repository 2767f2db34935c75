"""What a run of device mutants is told; the environment carries it into every process."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, replace
from typing import Literal

VARIABLE = "TORCHDEVLINT_MUTANTS"
Mode = Literal["untold", "told", "default", "plain", "strict"]
"""untold: values are moved, the library is told nothing. told: parameters such as `device=` are given as well. default: CUDA is
the default device as well. plain: nothing is changed, outcomes are kept. strict: as untold, and a fault raises as on a GPU.
"""


@dataclass(frozen=True, slots=True)
class Settings:
    """One run. Paths are absolute; `only` names a file with the ids of the tests to run, one a line (empty: all)."""

    root: str
    folder: str
    library: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    mode: Mode = "untold"
    only: str = ""
    overlay: dict[str, str] = field(default_factory=dict)
    """Texts in the place of files: path of the file -> path of the text."""

    def to_environment(self, base: dict[str, str]) -> dict[str, str]:
        """`base` with these settings."""
        return {**base, VARIABLE: json.dumps(asdict(self))}

    def with_mode(self, mode: Mode, folder: str, only: str = "", overlay: dict[str, str] | None = None) -> Settings:
        """The same suite, run in another way."""
        return replace(self, mode=mode, folder=folder, only=only, overlay=overlay or {})


def from_environment() -> Settings | None:
    """The settings of this process; None where nobody asked for mutants. Raises ValueError when they cannot be read."""
    text = os.environ.get(VARIABLE)
    if text is None:
        return None
    data = json.loads(text)
    return Settings(**{**data, "library": tuple(data["library"]), "tests": tuple(data["tests"])})
