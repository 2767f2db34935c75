import torch
import torch.nn as nn

from .layers import FeatureNet


class NeuralAdditiveModel(nn.Module):

    def __init__(self, num_features, units=16, hidden=8, dropout=0.1,
                 feature_dropout=0.05, interactions=()):
        super(NeuralAdditiveModel, self).__init__()
        self.num_features = num_features
        self.interactions = list(interactions)
        self.feature_dropout = nn.Dropout(feature_dropout)
        self.bias = nn.Parameter(torch.zeros(1))

        self.feature_nns = nn.ModuleList(
            [FeatureNet(units, hidden, dropout) for _ in range(num_features)])
        self.pair_nns = nn.ModuleList(
            [nn.Sequential(nn.Linear(2, hidden), nn.ReLU(), nn.Linear(hidden, 1))
             for _ in self.interactions])

    def contributions(self, x):
        out = [net(x[:, i:i + 1]) for i, net in enumerate(self.feature_nns)]
        for (i, j), net in zip(self.interactions, self.pair_nns):
            out.append(net(torch.stack([x[:, i], x[:, j]], dim=1)))
        return torch.cat(out, dim=-1)

    def forward(self, x):
        parts = self.contributions(x)
        logits = self.feature_dropout(parts).sum(dim=-1) + self.bias
        return logits, parts
