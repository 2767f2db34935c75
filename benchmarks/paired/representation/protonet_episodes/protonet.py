"""Prototypical networks (Snell et al., 2017) on synthetic spectra, N-way K-shot episodes."""
from dataclasses import dataclass
from typing import Iterator, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

DEVICE = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")


@dataclass(frozen=True)
class Settings:
    ways: int = 5
    shots: int = 3
    queries: int = 6
    length: int = 64
    train_classes: int = 30
    test_classes: int = 10
    episodes: int = 40
    eval_episodes: int = 15
    lr: float = 1e-3
    seed: int = 11


class Episode(NamedTuple):
    support_x: Tensor
    support_y: Tensor
    query_x: Tensor
    query_y: Tensor

    def to(self, device: torch.device) -> "Episode":
        return Episode(*(t.to(device) for t in self))


class SpectrumBank:
    """Every class is a sum of three peaks; samples jitter their positions and heights."""

    def __init__(self, n_classes: int, length: int, seed: int) -> None:
        g = torch.Generator().manual_seed(seed)
        self.pos = torch.rand(n_classes, 3, generator=g) * length
        self.height = 0.5 + torch.rand(n_classes, 3, generator=g)
        self.axis = torch.arange(length, dtype=torch.float32)

    def draw(self, label: int, n: int) -> Tensor:
        pos = self.pos[label] + torch.randn(n, 3)
        height = self.height[label] * (1 + 0.1 * torch.randn(n, 3))
        peaks = height[..., None] * torch.exp(-((self.axis - pos[..., None]) ** 2) / 8)
        return peaks.sum(1, keepdim=True) + 0.05 * torch.randn(n, 1, len(self.axis))

    def episodes(self, s: Settings, n: int) -> Iterator[Episode]:
        for _ in range(n):
            chosen = torch.randperm(len(self.pos))[: s.ways].tolist()
            sx, qx = [], []
            for label in chosen:
                x = self.draw(label, s.shots + s.queries)
                sx.append(x[: s.shots])
                qx.append(x[s.shots :])
            ways = torch.arange(s.ways)
            yield Episode(
                torch.cat(sx), ways.repeat_interleave(s.shots), torch.cat(qx), ways.repeat_interleave(s.queries)
            )


class Encoder(nn.Module):
    def __init__(self, width: int = 32, out: int = 24) -> None:
        super().__init__()

        def block(i: int, o: int) -> nn.Sequential:
            return nn.Sequential(nn.Conv1d(i, o, 3, padding=1), nn.BatchNorm1d(o), nn.ReLU(), nn.MaxPool1d(2))

        self.features = nn.Sequential(block(1, width), block(width, width), block(width, out))

    def forward(self, x: Tensor) -> Tensor:
        return self.features(x).mean(-1)


def class_prototypes(embeddings: Tensor, labels: Tensor, ways: int) -> Tensor:
    prototypes = embeddings.new_zeros(ways, embeddings.size(1))
    for c in range(ways):
        prototypes[c] = embeddings[labels == c].mean(0)
    return prototypes


def episode_logits(model: nn.Module, ep: Episode, ways: int) -> Tensor:
    embedded = model(torch.cat([ep.support_x, ep.query_x]))
    support, query = embedded.split([len(ep.support_x), len(ep.query_x)])
    prototypes = class_prototypes(support, ep.support_y, ways)
    return -torch.cdist(query, prototypes).pow(2)


@torch.no_grad()
def evaluate(model: nn.Module, bank: SpectrumBank, s: Settings) -> float:
    model.eval()
    acc = torch.zeros(s.eval_episodes)
    for i, ep in enumerate(bank.episodes(s, s.eval_episodes)):
        ep = ep.to(DEVICE)
        acc[i] = (episode_logits(model, ep, s.ways).argmax(1) == ep.query_y).float().mean()
    model.train()
    return acc.mean().item()


def main() -> None:
    s = Settings()
    torch.manual_seed(s.seed)
    train_bank = SpectrumBank(s.train_classes, s.length, seed=0)
    test_bank = SpectrumBank(s.test_classes, s.length, seed=1)
    model = Encoder().to(DEVICE)
    opt = torch.optim.Adam(model.parameters(), lr=s.lr)

    print(f"before: {evaluate(model, test_bank, s):.3f}")
    for i, ep in enumerate(train_bank.episodes(s, s.episodes), 1):
        ep = ep.to(DEVICE)
        loss = F.cross_entropy(episode_logits(model, ep, s.ways), ep.query_y)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        if i % 20 == 0:
            print(f"episode {i}: loss {loss.item():.4f}")
    print(f"after: {evaluate(model, test_bank, s):.3f}")


if __name__ == "__main__":
    main()
