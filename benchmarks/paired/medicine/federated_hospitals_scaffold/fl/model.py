from torch import nn


def build_model(n_features=12, hidden=16, n_classes=2):
    return nn.Sequential(
        nn.Linear(n_features, hidden),
        nn.BatchNorm1d(hidden),
        nn.ReLU(),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
        nn.Linear(hidden, n_classes),
    )
