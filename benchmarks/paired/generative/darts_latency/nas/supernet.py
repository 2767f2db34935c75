import torch
import torch.nn as nn

from .operations import OPS, PRIMITIVES


class MixedOp(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.ops = nn.ModuleList([OPS[p](c) for p in PRIMITIVES])

    def forward(self, x, weights):
        return sum(w * op(x) for w, op in zip(weights, self.ops))


class Cell(nn.Module):
    def __init__(self, nodes, c):
        super().__init__()
        self.nodes = nodes
        self.edges = nn.ModuleList([MixedOp(c) for i in range(nodes) for _ in range(i + 1)])

    def forward(self, x, weights):
        states, e = [x], 0
        for i in range(self.nodes):
            total = 0
            for j in range(i + 1):
                total = total + self.edges[e](states[j], weights[e])
                e += 1
            states.append(total)
        return torch.stack(states[1:]).mean(0)


class SuperNet(nn.Module):
    """Weights are parameters(); the architecture lives apart, in arch_parameters()."""

    def __init__(self, c=8, nodes=2, cells=2, classes=3):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv1d(1, c, 3, padding=1), nn.BatchNorm1d(c))
        self.cells = nn.ModuleList([Cell(nodes, c) for _ in range(cells)])
        self.head = nn.Linear(c, classes)
        n_edges = nodes * (nodes + 1) // 2
        # one table shared by all cells; a plain list so that parameters() doesn't list it
        self.alphas = [(1e-3 * torch.randn(n_edges, len(PRIMITIVES))).requires_grad_()]

    def arch_parameters(self):
        return self.alphas

    def to(self, *args, **kwargs):
        super().to(*args, **kwargs)
        for a in self.alphas:
            a.data = a.data.to(*args, **kwargs)
            a.grad = None
        return self

    def probs(self):
        return [a.softmax(-1) for a in self.alphas]

    def forward(self, x):
        x = self.stem(x)
        weights = self.probs()[0]
        for cell in self.cells:
            x = cell(x, weights)
        return self.head(x.mean(-1))

    def genotype(self):
        names = []
        for row in self.probs()[0].detach().cpu().numpy():
            best = max((k for k in range(len(PRIMITIVES)) if PRIMITIVES[k] != "none"), key=lambda k: row[k])
            names.append((PRIMITIVES[best], round(float(row[best]), 4)))
        return names
