import torch
import torch.nn as nn
import torch.nn.functional as F

from .registry import OPS


class MixedOp(nn.Module):
    def __init__(self, names, channels):
        super().__init__()
        self.candidates = nn.ModuleList(OPS[n](channels) for n in names)

    def forward(self, x, weights):
        return sum(w * op(x) for w, op in zip(weights, self.candidates))


class SuperNet(nn.Module):
    def __init__(self, ops, edges, channels, in_channels, num_classes):
        super().__init__()
        self.op_names = list(ops)
        self.stem = nn.Conv1d(in_channels, channels, 3, padding=1)
        self.edges = nn.ModuleList(MixedOp(ops, channels) for _ in range(edges))
        self.head = nn.Linear(channels, num_classes)
        self.alphas = nn.Parameter(1e-3 * torch.randn(edges, len(ops)))

    def arch_parameters(self):
        return [self.alphas]

    def weight_parameters(self):
        return [p for n, p in self.named_parameters() if n != "alphas"]

    def mixing(self, tau=1.0):
        return F.softmax(self.alphas / tau, dim=-1)

    def forward(self, x, tau=1.0):
        h = self.stem(x)
        for edge, w in zip(self.edges, self.mixing(tau)):
            h = edge(h, w)
        return self.head(h.mean(-1))

    def genotype(self):
        best = self.alphas.detach().cpu().numpy().argmax(axis=1)
        return [self.op_names[i] for i in best]
