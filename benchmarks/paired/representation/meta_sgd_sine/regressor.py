from torch import nn


def build_regressor(hidden=(40, 40)):
    layers, last = [], 1
    for h in hidden:
        layers += [nn.Linear(last, h), nn.ReLU()]
        last = h
    return nn.Sequential(*layers, nn.Linear(last, 1))
