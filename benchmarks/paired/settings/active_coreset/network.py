import torch.nn as nn


class MLP(nn.Module):
    def __init__(self, n_in, hidden, n_out, p):
        super().__init__()
        layers = []
        for h in hidden:
            layers += [nn.Linear(n_in, h), nn.ReLU(), nn.Dropout(p)]
            n_in = h
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(n_in, n_out)

    def forward(self, x, return_features=False):
        h = self.body(x)
        return (self.head(h), h) if return_features else self.head(h)
