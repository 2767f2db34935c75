from itertools import product
from math import sqrt

import torch


class PriorBox(object):
    """Compute priorbox coordinates in center-offset form for each source feature map."""

    def __init__(self, cfg):
        self.image_size = cfg['min_dim']
        self.feature_maps = cfg['feature_maps']
        self.scales = cfg['scales']
        self.aspect_ratios = cfg['aspect_ratios']
        self.clip = cfg['clip']

    def forward(self):
        mean = []
        for k, f in enumerate(self.feature_maps):
            for i, j in product(range(f), repeat=2):
                cx, cy, s = (j + 0.5) / f, (i + 0.5) / f, self.scales[k]
                mean += [cx, cy, s, s]
                for ar in self.aspect_ratios[k]:
                    mean += [cx, cy, s * sqrt(ar), s / sqrt(ar)]
                    mean += [cx, cy, s / sqrt(ar), s * sqrt(ar)]
        output = torch.Tensor(mean).view(-1, 4)
        if self.clip:
            output.clamp_(max=1, min=0)
        return output
