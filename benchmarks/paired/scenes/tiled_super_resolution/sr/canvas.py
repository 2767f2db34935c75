import torch


class BlendCanvas:
    """Weighted accumulation of overlapping tiles.

    The canvas of a big picture does not fit next to the network, so it is kept
    in host memory whatever the tiles come from.
    """

    def __init__(self, channels, height, width):
        self.total = torch.zeros(channels, height, width)
        self.weight = torch.zeros(1, height, width)

    def add(self, tile, window, top, left):
        h, w = tile.shape[-2:]
        total = self.total[:, top : top + h, left : left + w]
        weight = self.weight[:, top : top + h, left : left + w]
        total += (tile * window).to(total.device)
        weight += window.to(weight.device)

    def merge(self):
        return self.total / self.weight.clamp_min(1e-6)
