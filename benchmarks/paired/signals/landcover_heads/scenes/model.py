import torch
from torch import nn

from .heads import make_head
from .place import building_on


class Encoder(nn.Module):
    """Standardized bands and normalized differences, then three convolutions."""

    def __init__(self, settings, mean, std):
        super().__init__()
        names = settings["bands"]
        self.pairs = [(names.index(a), names.index(b)) for a, b in settings["indices"].values()]
        width = settings["width"]
        self.register_buffer("mean", torch.empty(len(names), 1, 1))
        self.register_buffer("std", torch.empty(len(names), 1, 1))
        self.mean.copy_(mean[:, None, None])
        self.std.copy_(std[:, None, None])
        self.net = nn.Sequential(
            nn.Conv2d(len(names) + len(self.pairs), width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=2, dilation=2), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
        )

    def forward(self, image):
        ratios = []
        for a, b in self.pairs:
            up, down = image[:, a] - image[:, b], image[:, a] + image[:, b]
            ratios.append((up / down.clamp(min=1e-2)).clamp(-1.0, 1.0))
        x = (image - self.mean) / self.std
        return self.net(torch.cat([x, torch.stack(ratios, dim=1)], dim=1))


class MultiTask(nn.Module):
    def __init__(self, encoder, heads):
        super().__init__()
        self.encoder = encoder
        self.heads = nn.ModuleDict({head.name: head for head in heads})

    def forward(self, image):
        features = self.encoder(image)
        return {name: head(features) for name, head in self.heads.items()}

    def loss(self, predictions, targets):
        return sum(head.loss(predictions[name], targets) for name, head in self.heads.items())


def build(settings, statistics, device, seed=0):
    with building_on(device, seed):
        encoder = Encoder(settings, *statistics)
        heads = [make_head(spec, settings["width"]) for spec in settings["heads"]]
    return MultiTask(encoder, heads)
