from __future__ import annotations

import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Client:
    """Holds local data only. Weights arrive from the server with every round and leave as CPU tensors."""

    def __init__(self, cid: int, dataset: Dataset, model: nn.Module, device: torch.device, *,
                 lr: float = 0.05, local_epochs: int = 1, batch_size: int = 16, mu: float = 0.1) -> None:
        self.cid = cid
        self.device = device
        self.model = copy.deepcopy(model).to(device)
        self.loader = DataLoader(dataset, batch_size=batch_size, shuffle=True)
        self.n_samples = len(dataset)
        self.lr, self.local_epochs, self.mu = lr, local_epochs, mu

    def proximal_term(self, anchor: dict[str, torch.Tensor]) -> torch.Tensor:
        total = 0.0
        for name, w in self.model.named_parameters():
            total = total + (w - anchor[name]).pow(2).sum()
        return 0.5 * self.mu * total

    def fit(self, global_state: dict[str, torch.Tensor]) -> tuple[dict[str, torch.Tensor], int, float]:
        self.model.load_state_dict(global_state)
        anchor = {name: p.detach().clone() for name, p in self.model.named_parameters()}
        opt = torch.optim.SGD(self.model.parameters(), lr=self.lr, momentum=0.9)
        self.model.train()
        loss_sum, seen = 0.0, 0
        for _ in range(self.local_epochs):
            for x, y in self.loader:
                x, y = x.to(self.device), y.to(self.device)
                loss = F.cross_entropy(self.model(x), y) + self.proximal_term(anchor)
                opt.zero_grad()
                loss.backward()
                opt.step()
                loss_sum += loss.item() * len(x)
                seen += len(x)
        state = {k: v.detach().cpu().clone() for k, v in self.model.state_dict().items()}
        return state, self.n_samples, loss_sum / seen
