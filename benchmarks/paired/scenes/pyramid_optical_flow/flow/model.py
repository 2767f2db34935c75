import torch
import torch.nn as nn
import torch.nn.functional as F

from .warp import upsample2, warp


def cost_volume(a, b, radius):
    h, w = a.shape[-2:]
    padded = F.pad(b, [radius] * 4)
    out = []
    for dy in range(2 * radius + 1):
        for dx in range(2 * radius + 1):
            out.append((a * padded[..., dy : dy + h, dx : dx + w]).mean(1, keepdim=True))
    return torch.cat(out, 1)


class Level(nn.Module):
    def __init__(self, feat, radius):
        super().__init__()
        self.radius = radius
        n = (2 * radius + 1) ** 2
        self.net = nn.Sequential(
            nn.Conv2d(n + feat + 2, 24, 3, padding=1), nn.LeakyReLU(0.1), nn.Conv2d(24, 2, 3, padding=1)
        )

    def forward(self, f1, f2, flow):
        cv = F.leaky_relu(cost_volume(f1, warp(f2, flow), self.radius), 0.1)
        return flow + self.net(torch.cat([cv, f1, flow], 1))


class PyramidFlow(nn.Module):
    def __init__(self, feat=12, levels=2, radius=2):
        super().__init__()
        self.stem = nn.Conv2d(1, feat, 3, padding=1)
        self.down = nn.ModuleList(nn.Conv2d(feat, feat, 3, stride=2, padding=1) for _ in range(levels))
        self.levels = nn.ModuleList(Level(feat, radius) for _ in range(levels))

    def pyramid(self, img):
        x, out = F.leaky_relu(self.stem(img), 0.1), []
        for conv in self.down:
            x = F.leaky_relu(conv(x), 0.1)
            out.append(x)
        return out[::-1]

    def forward(self, im1, im2):
        p1, p2 = self.pyramid(im1), self.pyramid(im2)
        b, _, h, w = p1[0].shape
        flow = p1[0].new_zeros(b, 2, h, w)
        flows = []
        for k, (f1, f2, level) in enumerate(zip(p1, p2, self.levels)):
            if k:
                flow = upsample2(flow)
            flow = level(f1, f2, flow)
            flows.append(flow)
        flows.append(upsample2(flow))
        return flows
