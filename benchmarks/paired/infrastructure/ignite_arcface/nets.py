import torch.nn as nn


def embedder(dim=16):
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.PReLU(8), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.PReLU(16), nn.AdaptiveAvgPool2d(3),
        nn.Flatten(), nn.Linear(16 * 9, dim),
    )
