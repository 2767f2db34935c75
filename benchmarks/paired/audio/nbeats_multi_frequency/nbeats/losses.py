import torch
from torch import Tensor, nn


class MASELoss(nn.Module):
    def __init__(self, seasons: dict):
        super().__init__()
        self.seasons = seasons

    def forward(self, pred: Tensor, target: Tensor, history: Tensor, freq: str) -> Tensor:
        s = self.seasons[freq]
        scale = (history[:, s:] - history[:, :-s]).abs().mean(-1, keepdim=True).clamp_min(1e-3)
        return ((pred - target).abs() / scale).mean()


def smape(pred: Tensor, target: Tensor) -> Tensor:
    return 200 * ((pred - target).abs() / (pred.abs() + target.abs() + 1e-8)).mean()
