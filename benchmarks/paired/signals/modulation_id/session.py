"""Everything a run needs, made from one configuration."""
from dataclasses import dataclass, field
from functools import cached_property

import torch

from channel import Channel, seeded
from classifier import Classifier
from radio import bursts


@dataclass
class Session:
    seed: int = 7
    batch: int = 48
    symbols: int = 32
    oversample: int = 4
    lr: float = 3e-3
    effects: list = field(default_factory=lambda: [("rotate", {}), ("drift", {}), ("noise", {"snr_db": 18.0})])
    device: str = "cuda" if torch.cuda.is_available() else "cpu"

    def stream(self, offset=0):
        return bursts(self.batch, self.symbols, self.oversample, seeded(self.seed + offset))

    @cached_property
    def channel(self):
        return Channel(self.effects, seeded(self.seed + 100, self.device))

    @cached_property
    def model(self):
        torch.manual_seed(self.seed)
        return Classifier().to(self.device)

    @cached_property
    def optimizer(self):
        return torch.optim.AdamW(self.model.parameters(), lr=self.lr)

    def receive(self, block):
        """Send a block through the channel on the device."""
        x, label = block
        return self.channel(x.to(self.device)), label.to(self.device)
