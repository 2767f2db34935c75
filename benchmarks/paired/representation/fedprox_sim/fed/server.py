from __future__ import annotations

import random

import torch
from torch import nn

from .client import Client


def weighted_average(states: list[dict[str, torch.Tensor]], weights: list[int]) -> dict[str, torch.Tensor]:
    total = sum(weights)
    out = {}
    for key, ref in states[0].items():
        acc = torch.zeros_like(ref, dtype=torch.float32)
        for state, w in zip(states, weights):
            acc += state[key].float() * (w / total)
        out[key] = acc.to(ref.dtype)
    return out


class Server:
    def __init__(self, model: nn.Module, clients: list[Client], fraction: float, eval_device: torch.device) -> None:
        self.global_model = model
        self.clients = clients
        self.n_pick = max(1, round(fraction * len(clients)))
        self.eval_device = eval_device

    def round(self) -> float:
        picked = random.sample(self.clients, self.n_pick)
        global_state = {k: v.cpu() for k, v in self.global_model.state_dict().items()}
        states, sizes, losses = zip(*(c.fit(global_state) for c in picked))
        self.global_model.load_state_dict(weighted_average(list(states), list(sizes)))
        return sum(l * n for l, n in zip(losses, sizes)) / sum(sizes)

    @torch.no_grad()
    def evaluate(self, x: torch.Tensor, y: torch.Tensor) -> float:
        self.global_model.to(self.eval_device).eval()
        pred = self.global_model(x.to(self.eval_device)).argmax(1)
        return (pred.cpu() == y).float().mean().item()
