from __future__ import annotations

import torch
from torch.utils.data import DataLoader

from dpr.data import SyntheticQA
from dpr.encoder import BiEncoder
from dpr.index import FlatIndex


class Trainer:
    def __init__(self, model: BiEncoder, dataset: SyntheticQA, batch_size: int = 32, lr: float = 5e-3,
                 device: torch.device | str = "cpu") -> None:
        self.device = torch.device(device)
        self.model = model.to(self.device)
        self.dataset = dataset
        self.loader = DataLoader(dataset, batch_size=batch_size, shuffle=True, drop_last=True)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)

    def fit(self, epochs: int) -> None:
        for epoch in range(epochs):
            self.model.train()
            total = 0.0
            for q, p in self.loader:
                loss = self.model(q.to(self.device), p.to(self.device))
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                total += loss.item()
            print(f"epoch {epoch} loss {total / len(self.loader):.4f}")

    @torch.no_grad()
    def build_index(self) -> FlatIndex:
        self.model.eval()
        index = FlatIndex(self.model.passage.embed.embedding_dim)
        for _, p in DataLoader(self.dataset, batch_size=50):
            index.add(self.model.passage(p.to(self.device)))
        return index

    @torch.no_grad()
    def evaluate(self, ks=(1, 5, 20)) -> dict[str, float]:
        index = self.build_index()
        hits = {k: 0 for k in ks}
        for b, (q, _) in enumerate(DataLoader(self.dataset, batch_size=40)):
            _, ids = index.search(self.model.question(q.to(self.device)), max(ks))
            gold = torch.arange(b * 40, b * 40 + q.size(0)).unsqueeze(1)
            match = ids.cpu() == gold
            for k in ks:
                hits[k] += match[:, :k].any(dim=1).sum().item()
        return {f"recall@{k}": hits[k] / len(self.dataset) for k in ks}
