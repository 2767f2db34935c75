from torch import nn


class MLP(nn.Module):
    def __init__(self, dims, dropout=0.0):
        super().__init__()
        layers = []
        for a, b in zip(dims[:-2], dims[1:-1]):
            layers += [nn.Linear(a, b), nn.ReLU(), nn.Dropout(dropout)]
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(dims[-2], dims[-1])

    def forward(self, x):
        return self.classifier(self.features(x))
