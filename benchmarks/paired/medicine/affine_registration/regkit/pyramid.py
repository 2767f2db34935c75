import torch.nn.functional as F


class Pyramid:
    """Yields (scale, fixed, moving) from coarse to fine. The images stay on the host."""

    def __init__(self, fixed, moving, levels):
        self.fixed, self.moving = fixed, moving
        self.levels = sorted(levels, reverse=True)

    def __iter__(self):
        for scale in self.levels:
            if scale == 1:
                yield scale, self.fixed, self.moving
            else:
                yield scale, F.avg_pool2d(self.fixed, scale), F.avg_pool2d(self.moving, scale)
