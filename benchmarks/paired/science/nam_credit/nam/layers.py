import torch
import torch.nn as nn
import torch.nn.functional as F


class ExU(nn.Module):
    """Exp-centred unit with a capped ReLU."""

    def __init__(self, in_features, out_features):
        super(ExU, self).__init__()
        self.weights = nn.Parameter(torch.Tensor(in_features, out_features))
        self.bias = nn.Parameter(torch.Tensor(in_features))
        nn.init.trunc_normal_(self.weights, mean=0.5, std=0.5)
        nn.init.trunc_normal_(self.bias, std=0.5)

    def forward(self, x):
        out = (x - self.bias).matmul(torch.exp(self.weights))
        return torch.clamp(out, 0, 1)


class FeatureNet(nn.Module):
    def __init__(self, units, hidden, dropout):
        super(FeatureNet, self).__init__()
        self.first = ExU(1, units)
        self.mid = nn.Linear(units, hidden)
        self.last = nn.Linear(hidden, 1, bias=False)
        self.dropout = dropout

    def forward(self, x):
        h = F.dropout(self.first(x), self.dropout, self.training)
        h = F.relu(self.mid(h))
        return self.last(h)
