from abc import ABC
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Dict, List, Optional

import numpy as np
import torch
from torch import Tensor

if TYPE_CHECKING:
    from .trainer import Trainer


class Callback(ABC):
    def on_fit_start(self, trainer: "Trainer") -> None: ...

    def on_step_end(self, trainer: "Trainer") -> None: ...

    def on_epoch_end(self, trainer: "Trainer") -> None: ...

    def on_fit_end(self, trainer: "Trainer") -> None: ...


class EMA(Callback):
    def __init__(self, model: torch.nn.Module, decay: float = 0.98) -> None:
        self.model = model
        self.decay = decay
        self.shadow: Optional[List[Tensor]] = None

    def on_fit_start(self, trainer):
        self.shadow = [p.detach().clone() for p in self.model.parameters()]

    @torch.no_grad()
    def on_step_end(self, trainer):
        d = min(self.decay, (1 + trainer.step) / (10 + trainer.step))
        for s, p in zip(self.shadow, self.model.parameters()):
            s.sub_((1.0 - d) * (s - p))

    @contextmanager
    def averaged(self):
        backup = [p.detach().clone() for p in self.model.parameters()]
        with torch.no_grad():
            for p, s in zip(self.model.parameters(), self.shadow):
                p.copy_(s)
        try:
            yield self.model
        finally:
            with torch.no_grad():
                for p, b in zip(self.model.parameters(), backup):
                    p.copy_(b)

    def on_fit_end(self, trainer):
        with self.averaged():
            trainer.logger(f"EMA weights: grid error {trainer.grid_error():.4f}")


class MeshStats(Callback):
    """Occupied volume and surface crossings of the zero level set, on the host."""

    def __init__(self, resolution: int = 12) -> None:
        self.resolution = resolution
        self.rows: List[Dict[str, float]] = []

    def on_epoch_end(self, trainer):
        vol = trainer.query_grid(self.resolution).numpy()
        inside = vol < 0
        crossings = sum(int(np.count_nonzero(np.diff(inside.astype(np.int8), axis=a))) for a in range(3))
        self.rows.append({"volume": 8.0 * float(inside.mean()), "crossings": crossings})


class Snapshot(Callback):
    def __init__(self, directory: str) -> None:
        self.directory = Path(directory)
        self.best = float("inf")

    def on_epoch_end(self, trainer):
        err = trainer.grid_error()
        if err < self.best:
            self.best = err
            state = {k: v.cpu() for k, v in trainer.model.state_dict().items()}
            torch.save({"state": state, "step": trainer.step, "err": err}, self.directory / "best.pt")
