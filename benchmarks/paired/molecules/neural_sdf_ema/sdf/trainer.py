from typing import Callable, Sequence, Union

import torch
import torch.nn.functional as F
from torch import Tensor

from .callbacks import Callback
from .field import FourierSDF
from .sampling import SDFSamples


class Trainer:
    def __init__(
        self,
        model: FourierSDF,
        callbacks: Sequence[Callback] = (),
        device: Union[str, torch.device] = "auto",
        lr: float = 2e-3,
        eikonal: float = 0.02,
        logger: Callable[[str], None] = print,
    ) -> None:
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        self.device = torch.device(device)
        self.model = model
        self.callbacks = list(callbacks)
        self.lr, self.eikonal, self.logger = lr, eikonal, logger
        self.step = 0

    def _emit(self, hook: str) -> None:
        for cb in self.callbacks:
            getattr(cb, hook)(self)

    def fit(self, data: SDFSamples, epochs: int, batch_size: int) -> None:
        self.data = data
        self.model.to(self.device)
        opt = torch.optim.Adam(self.model.parameters(), lr=self.lr)
        self._emit("on_fit_start")
        for epoch in range(epochs):
            running = 0.0
            for pts, val in data.batches(batch_size):
                pts, val = pts.to(self.device), val.to(self.device)
                loss = F.l1_loss(self.model(pts).clamp(-0.3, 0.3), val.clamp(-0.3, 0.3))
                if self.eikonal > 0:
                    rand = torch.rand_like(pts) * 2 - 1
                    loss = loss + self.eikonal * (self.model.gradient(rand).norm(dim=-1) - 1).pow(2).mean()
                opt.zero_grad()
                loss.backward()
                opt.step()
                self.step += 1
                running += loss.item() * len(pts)
                self._emit("on_step_end")
            self.logger(f"epoch {epoch} loss {running / len(data):.4f}")
            self._emit("on_epoch_end")
        self._emit("on_fit_end")

    @torch.no_grad()
    def query_grid(self, n: int, chunk: int = 600) -> Tensor:
        ax = torch.linspace(-1, 1, n)
        pts = torch.cartesian_prod(ax, ax, ax)
        device = next(self.model.parameters()).device
        return torch.cat([self.model(p.to(device)).cpu() for p in pts.split(chunk)]).view(n, n, n)

    def grid_error(self, n: int = 10) -> float:
        ax = torch.linspace(-1, 1, n)
        truth = self.data.shape(torch.cartesian_prod(ax, ax, ax).numpy())
        return float(abs(self.query_grid(n).numpy().ravel() - truth).mean())
