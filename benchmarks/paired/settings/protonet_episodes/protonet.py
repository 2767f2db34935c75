"""Prototypical networks on synthetic 'glyphs', with relation-aware episode statistics.

    python protonet.py --way 5 --shot 1 --episodes 200
"""
import argparse
import collections
import itertools
import math
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from scipy import stats
from torch.utils.data import DataLoader, Dataset, Sampler


class Glyphs(Dataset):
    def __init__(self, n_classes, per_class, size=12, seed=0):
        rng = np.random.RandomState(seed)
        base = (rng.rand(n_classes, 1, size // 3, size // 3) > 0.5).astype("float32")
        base = base.repeat(3, axis=2).repeat(3, axis=3)
        noise = 0.35 * rng.randn(n_classes, per_class, size, size)
        self.images = torch.tensor(base + noise, dtype=torch.float32).view(-1, 1, size, size)
        self.labels = np.repeat(np.arange(n_classes), per_class)
        self.by_class = collections.defaultdict(list)
        for i, c in enumerate(self.labels):
            self.by_class[int(c)].append(i)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.images[i], int(self.labels[i])


class EpisodeSampler(Sampler):
    """Yields way * (shot + query) indices, class after class, supports first."""

    def __init__(self, dataset, way, shot, query, episodes, seed=None):
        self.dataset, self.way, self.shot, self.query = dataset, way, shot, query
        self.episodes = episodes
        self.rng = random.Random(seed)

    def __len__(self):
        return self.episodes

    def __iter__(self):
        classes = sorted(self.dataset.by_class)
        for _ in range(self.episodes):
            batch = []
            for c in self.rng.sample(classes, self.way):
                batch += self.rng.sample(self.dataset.by_class[c], self.shot + self.query)
            yield batch


def conv_block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(), nn.MaxPool2d(2))


class ProtoNet(nn.Module):
    def __init__(self, hid=8, blocks=2, metric="euclidean"):
        super().__init__()
        widths = [1] + [hid] * blocks
        self.encoder = nn.Sequential(*[conv_block(a, b) for a, b in zip(widths, widths[1:])], nn.Flatten())
        self.metric = metric
        self.log_scale = nn.Parameter(torch.tensor(0.0))

    def scores(self, query, protos):
        if self.metric == "cosine":
            s = F.normalize(query, dim=-1) @ F.normalize(protos, dim=-1).t()
            return 10 * self.log_scale.exp() * s
        return -self.log_scale.exp() * torch.cdist(query, protos).pow(2) / query.size(-1)

    def forward(self, images, way, shot):
        z = self.encoder(images)
        z = z.view(way, -1, z.size(-1))
        protos = z[:, :shot].mean(dim=1)
        query = z[:, shot:].reshape(-1, z.size(-1))
        return self.scores(query, protos), protos


def episode_targets(way, query, device=None):
    return torch.arange(way, device=device).repeat_interleave(query)


def label_smoothing_nll(logp, target, eps):
    onehot = torch.zeros_like(logp).scatter_(1, target.unsqueeze(1), 1.0)
    soft = onehot * (1 - eps) + eps / logp.size(1)
    return -(soft * logp).sum(1).mean()


def run_episode(model, images, way, shot, eps=0.0):
    device = next(model.parameters()).device
    scores, protos = model(images.to(device), way, shot)
    target = episode_targets(way, scores.size(0) // way, device)
    logp = F.log_softmax(scores, dim=1)
    loss = label_smoothing_nll(logp, target, eps) if eps > 0 else F.nll_loss(logp, target)
    return loss, scores.detach(), protos.detach()


def spread(protos):
    """Mean angle between prototypes, in degrees."""
    p = F.normalize(protos.cpu() - protos.cpu().mean(0), dim=1).numpy()
    cos = [float(a @ b) for a, b in itertools.combinations(p, 2)]
    return math.degrees(math.acos(max(-1.0, min(1.0, float(np.mean(cos))))))


def confidence_interval(accs, level=0.95):
    accs = np.asarray(accs)
    half = stats.sem(accs) * stats.t.ppf((1 + level) / 2, len(accs) - 1)
    return accs.mean(), half


def train(model, loader, args):
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=max(1, len(loader) // 2), gamma=0.5)
    model.train()
    for it, (images, _) in enumerate(loader):
        loss, scores, protos = run_episode(model, images, args.way, args.shot, args.smoothing)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        if it % args.log_every == 0:
            print(f"[{it:4d}] loss {loss.item():.3f}  spread {spread(protos):.1f} deg  lr {sched.get_last_lr()[0]:.4f}")


@torch.no_grad()
def test(model, loader, args):
    model.eval()
    accs = []
    for images, _ in loader:
        _, scores, _ = run_episode(model, images, args.way, args.shot)
        pred = scores.argmax(1).cpu()
        target = episode_targets(args.way, args.query)
        accs.append((pred == target).float().mean().item())
    return confidence_interval(accs)


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--way", type=int, default=5)
    ap.add_argument("--shot", type=int, default=2)
    ap.add_argument("--query", type=int, default=4)
    ap.add_argument("--episodes", type=int, default=200)
    ap.add_argument("--test_episodes", type=int, default=10)
    ap.add_argument("--metric", choices=["euclidean", "cosine"], default="euclidean")
    ap.add_argument("--smoothing", type=float, default=0.05)
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--log_every", type=int, default=10)
    ap.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = ap.parse_args()

    torch.manual_seed(0)
    base, novel = Glyphs(20, 10, seed=1), Glyphs(10, 10, seed=2)

    def loader(ds, n, seed):
        return DataLoader(ds, batch_sampler=EpisodeSampler(ds, args.way, args.shot, args.query, n, seed))

    model = ProtoNet(metric=args.metric).to(args.device)
    train(model, loader(base, args.episodes, 0), args)
    mean, half = test(model, loader(novel, args.test_episodes, 1), args)
    print(f"novel {args.way}-way {args.shot}-shot: {100 * mean:.1f} +- {100 * half:.1f}")

    # deployment check: the exported copy has to agree on the host
    model.cpu()
    mean_cpu, _ = test(model, loader(novel, args.test_episodes, 1), args)
    print(f"on host: {100 * mean_cpu:.1f}")


if __name__ == "__main__":
    main()
