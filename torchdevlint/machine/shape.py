"""The shape of a machine: how many CUDA devices a program sees, and which PyTorch build refuses when there are none."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal, get_args

Build = Literal["cuda", "cpu", "no-driver", "hidden"]

_WITHOUT_GPU = {
    "cpu": "no GPU (CPU-only build)",
    "no-driver": "no GPU (CUDA build, no driver)",
    "hidden": "no GPU (CUDA build, GPUs hidden)",
}
MOST_GPUS = 64


@dataclass(frozen=True, slots=True)
class Shape:
    """One machine shape.

    ``gpus`` counts CUDA devices; every build but ``"cuda"`` has none. ``Shape(gpus=0)`` is the CUDA build
    whose GPUs are hidden. Raises ValueError for a count or build that no machine has.
    """

    gpus: int = 1
    build: Build = "cuda"

    def __post_init__(self) -> None:
        if self.build not in get_args(Build):
            raise ValueError(f"no such build: {self.build!r} (known: {', '.join(get_args(Build))})")
        if isinstance(self.gpus, bool) or not isinstance(self.gpus, int) or not 0 <= self.gpus <= MOST_GPUS:
            raise ValueError(f"a machine has 0 to {MOST_GPUS} GPUs, not {self.gpus!r}")
        if self.build != "cuda":
            object.__setattr__(self, "gpus", 0)
        elif self.gpus == 0:
            object.__setattr__(self, "build", "hidden")

    def describe(self) -> str:
        """The shape in words, as reports print it."""
        if self.gpus == 0:
            return _WITHOUT_GPU[self.build]
        return "1 virtual GPU" if self.gpus == 1 else f"{self.gpus} virtual GPUs"

    def to_json(self) -> str:
        """A JSON object that `from_json` reads back."""
        return json.dumps({"gpus": self.gpus, "build": self.build})

    @classmethod
    def from_json(cls, text: str) -> Shape:
        """The shape that `to_json` wrote. Raises ValueError when the text is not one."""
        try:
            data = json.loads(text)
            return cls(gpus=data["gpus"], build=data["build"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a machine shape: {text!r}") from error
