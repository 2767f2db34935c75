from __future__ import annotations

import torch
from torch import Tensor
from torch.utils.data import Sampler


class LossBank:
    """Moving average of each training sample's loss, and how often it was seen."""

    def __init__(self, size: int, momentum: float = 0.8, device: torch.device | str | None = None) -> None:
        self.momentum = momentum
        self.values = torch.zeros(size, device=device)
        self.seen = torch.zeros(size, dtype=torch.long, device=device)

    @torch.no_grad()
    def update(self, index: Tensor, loss: Tensor) -> None:
        old = self.values[index]
        first = self.seen[index] == 0
        self.values[index] = torch.where(first, loss, self.momentum * old + (1 - self.momentum) * loss)
        self.seen[index] += 1

    def probabilities(self, temperature: float) -> Tensor:
        v = self.values.clone()
        known = self.seen > 0
        v[~known] = v[known].max() if known.any() else 1.0
        return torch.softmax(v / temperature, dim=0)

    def state_dict(self) -> dict[str, Tensor]:
        return {"values": self.values.cpu(), "seen": self.seen.cpu()}

    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        self.values.copy_(state["values"])
        self.seen.copy_(state["seen"])


class HardExampleSampler(Sampler):
    """Half of every epoch uniformly, half in proportion to the bank's losses."""

    def __init__(self, bank: LossBank, num_samples: int, temperature: float = 0.5, seed: int = 0) -> None:
        self.bank = bank
        self.num_samples = num_samples
        self.temperature = temperature
        self.generator = torch.Generator().manual_seed(seed)

    def __len__(self) -> int:
        return self.num_samples

    def __iter__(self):
        half = self.num_samples // 2
        p = self.bank.probabilities(self.temperature).cpu()
        hard = torch.multinomial(p, half, replacement=True, generator=self.generator)
        uniform = torch.randint(len(p), (self.num_samples - half,), generator=self.generator)
        order = torch.cat([hard, uniform])
        yield from order[torch.randperm(len(order), generator=self.generator)].tolist()
