from dataclasses import dataclass
from typing import Tuple

import torch
from torch import Tensor, nn

from .blocks import GenericBlock, SeasonalityBlock, TrendBlock

BLOCKS = {"generic": GenericBlock, "trend": TrendBlock, "seasonality": SeasonalityBlock}


@dataclass(frozen=True)
class NBeatsConfig:
    backcast: int = 24
    horizon: int = 6
    width: int = 32
    stacks: Tuple[str, ...] = ("trend", "seasonality", "generic")
    frequencies: Tuple[str, ...] = ("hourly", "daily", "monthly")


class MultiFrequencyNBeats(nn.Module):
    def __init__(self, cfg: NBeatsConfig):
        super().__init__()
        self.cfg = cfg
        self.blocks = nn.ModuleList(
            [BLOCKS[name](cfg.backcast, cfg.horizon, cfg.width) for name in cfg.stacks])
        self.adapters = nn.ModuleDict(
            {freq: nn.Linear(cfg.backcast, cfg.backcast) for freq in cfg.frequencies})
        self.reset_parameters()

    def reset_parameters(self):
        for module in self.adapters.values():
            nn.init.eye_(module.weight)
            nn.init.zeros_(module.bias)

    def forward(self, x: Tensor, freq: str) -> Tensor:
        level = x.abs().mean(-1, keepdim=True) + 1e-6
        residual = self.adapters[freq](x / level)
        forecast = 0.0
        for block in self.blocks:
            back, fore = block(residual)
            residual = residual - back
            forecast = forecast + fore
        return forecast * level

    @torch.no_grad()
    def predict(self, x: Tensor, freq: str) -> Tensor:
        """Forecast on the device of the model, result on that of the input."""
        device = self.blocks[0].theta.weight.device
        was_training = self.training
        self.eval()
        out = self(x.to(device), freq).to(x.device)
        self.train(was_training)
        return out
