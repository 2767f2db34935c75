import torch


class Rasterizer:
    def __init__(self, size, device, background=(0.0, 0.0, 0.0)):
        ticks = (torch.arange(size, device=device) + 0.5) / size
        yy, xx = torch.meshgrid(ticks, ticks, indexing="ij")
        self.pixels = torch.stack([xx, yy], -1).reshape(-1, 2)
        self.bg = torch.tensor(background, device=device)
        self.size = size

    def __call__(self, g):
        d2 = torch.cdist(self.pixels, g._xy).pow(2)
        alpha = g.opacity.T * torch.exp(-0.5 * d2 / g.scale.T.pow(2))
        alpha = alpha.clamp(max=0.99)
        trans = torch.cumprod(1 - alpha, dim=1)
        shifted = torch.cat([torch.ones_like(trans[:, :1]), trans[:, :-1]], 1)
        image = (alpha * shifted) @ g.rgb + trans[:, -1:] * self.bg
        return image.view(self.size, self.size, 3)
