"""
Which token made the model say so?  Saliency, integrated gradients and linear probes
for a small text classifier.

Usage: python explain.py [--steps 16] [--layers-to-probe emb conv]
"""
import argparse
import collections
import functools

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression
from torch.utils.data import DataLoader, TensorDataset

PAD, GOOD, BAD, NOT = 0, range(1, 6), range(6, 11), 11
VOCAB, LENGTH = 30, 10


# --------------------------------------------------------------------------- data
def reviews(n, seed):
    rng = np.random.RandomState(seed)
    ids = rng.randint(12, VOCAB, size=(n, LENGTH))
    score = np.zeros(n)
    for row in range(n):
        for pos in rng.choice(np.arange(1, LENGTH), 3, replace=False):
            positive = rng.rand() < 0.5
            ids[row, pos] = rng.choice(list(GOOD if positive else BAD))
            score[row] += 1 if positive else -1
        if rng.rand() < 0.3:
            ids[row, 0] = NOT
            score[row] *= -1
    return torch.from_numpy(ids), torch.from_numpy((score > 0).astype("int64"))


# --------------------------------------------------------------------------- model
class TextCNN(nn.Module):
    def __init__(self, dim=16, width=24):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.conv = nn.Conv1d(dim, width, 3, padding=1)
        self.mix = nn.GRU(width, width, batch_first=True)
        self.fc = nn.Linear(width, 2)

    def from_embeddings(self, e):
        h = F.relu(self.conv(e.transpose(1, 2))).transpose(1, 2)
        _, last = self.mix(h.flip(1))
        return self.fc(last.squeeze(0))

    def forward(self, ids):
        return self.from_embeddings(self.emb(ids))


# --------------------------------------------------------------------------- attribution
def saliency(model, ids, target):
    e = model.emb(ids).detach().requires_grad_(True)
    out = model.from_embeddings(e).gather(1, target[:, None]).sum()
    grad, = torch.autograd.grad(out, e)
    return grad.norm(dim=-1)


def integrated_gradients(model, ids, target, steps=16):
    end = model.emb(ids).detach()
    start = model.emb(torch.full_like(ids, PAD)).detach()
    nodes, weights = np.polynomial.legendre.leggauss(steps)
    total = torch.zeros_like(end)
    for a, w in zip((nodes + 1) / 2, weights / 2):
        point = (start + float(a) * (end - start)).requires_grad_(True)
        out = model.from_embeddings(point).gather(1, target[:, None]).sum()
        total += float(w) * torch.autograd.grad(out, point)[0]
    attr = ((end - start) * total).sum(-1)
    with torch.no_grad():
        change = (model.from_embeddings(end) - model.from_embeddings(start)).gather(1, target[:, None]).squeeze(1)
    return attr, (attr.sum(1) - change).abs()


def occlusion(model, ids, target):
    with torch.no_grad():
        base = model(ids).gather(1, target[:, None])
        columns = []
        for pos in range(ids.size(1)):
            hidden = ids.clone()
            hidden[:, pos] = PAD
            columns.append(base - model(hidden).gather(1, target[:, None]))
    return torch.cat(columns, 1)


METHODS = collections.OrderedDict(saliency=saliency, occlusion=occlusion)


def register(name):
    def wrap(fn):
        METHODS[name] = fn
        return fn
    return wrap


@register("ig")
def _ig(model, ids, target, steps=16):
    return integrated_gradients(model, ids, target, steps)[0]


# --------------------------------------------------------------------------- probing
class Recorder:
    """Collects activations of named submodules on the host while active."""

    def __init__(self, model, names):
        self.data = collections.defaultdict(list)
        self.handles = [model.get_submodule(n).register_forward_hook(functools.partial(self._keep, n))
                        for n in names]

    def _keep(self, name, module, inputs, output):
        out = output[0] if isinstance(output, tuple) else output
        if isinstance(module, nn.Conv1d):
            out = out.transpose(1, 2)
        self.data[name].append(out.detach().mean(1).cpu())

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for h in self.handles:
            h.remove()

    def matrix(self, name):
        return torch.cat(self.data[name]).numpy()


def probe(features, concept):
    half = len(concept) // 2
    clf = LogisticRegression(max_iter=200).fit(features[:half], concept[:half])
    return clf.score(features[half:], concept[half:])


# --------------------------------------------------------------------------- main
def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--steps", type=int, default=16, help="quadrature points of integrated gradients")
    parser.add_argument("--layers-to-probe", nargs="+", default=["emb", "conv", "mix"])
    parser.add_argument("--no-cuda", action="store_true", help="do not use the GPU")
    args = parser.parse_args()

    torch.manual_seed(0)
    use_cuda = not args.no_cuda and torch.cuda.is_available()
    device = torch.device("cuda" if use_cuda else "cpu")
    loader_kwargs = {"pin_memory": True} if use_cuda else {}

    train, test = TensorDataset(*reviews(320, 1)), TensorDataset(*reviews(100, 2))
    model = TextCNN().to(device)
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(args.epochs):
        for ids, y in DataLoader(train, 32, shuffle=True, **loader_kwargs):
            loss = F.cross_entropy(model(ids.to(device)), y.to(device))
            opt.zero_grad()
            loss.backward()
            opt.step()

    scores = collections.defaultdict(list)
    hits, gap = 0, 0.0
    with torch.backends.cudnn.flags(enabled=False):
        for ids, y in DataLoader(test, 50, **loader_kwargs):
            ids = ids.to(device)
            with torch.no_grad():
                pred = model(ids).argmax(1)
            hits += (pred.cpu() == y).sum().item()
            for name, fn in METHODS.items():
                extra = {"steps": args.steps} if name == "ig" else {}
                scores[name].append(fn(model, ids, pred, **extra).cpu().numpy())
            gap = max(gap, integrated_gradients(model, ids, pred, args.steps)[1].max().item())
    print(f"loss {loss.item():.3f}  test acc {hits / len(test):.3f}  completeness gap {gap:.4f}")

    scores = {k: np.abs(np.concatenate(v)) for k, v in scores.items()}
    marked = np.isin(test.tensors[0].numpy(), list(GOOD) + list(BAD) + [NOT])
    for name, s in scores.items():
        rho = np.mean([spearmanr(a, b).statistic for a, b in zip(s[:20], scores["ig"][:20])])
        print(f"{name:>10}: mass on cue words {(s * marked).sum() / s.sum():.2f}  rank agreement with ig {rho:.2f}")

    with Recorder(model, args.layers_to_probe) as rec, torch.no_grad():
        for ids, _ in DataLoader(test, 50):
            model(ids.to(device))
    negated = (test.tensors[0] == NOT).any(1).numpy()
    for name in args.layers_to_probe:
        print(f"{name:>10}: probe for negation {probe(rec.matrix(name), negated):.2f}")


if __name__ == "__main__":
    main()
