import torch
import torch.nn as nn

from .corr import CorrBlock
from .utils.utils import coords_grid, upflow4


class Encoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 16, 5, stride=2, padding=2), nn.InstanceNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, dim, 3, stride=2, padding=1))

    def forward(self, x):
        return self.net(x)


class ConvGRU(nn.Module):
    def __init__(self, hidden, inp):
        super().__init__()
        self.convz = nn.Conv2d(hidden + inp, hidden, 3, padding=1)
        self.convr = nn.Conv2d(hidden + inp, hidden, 3, padding=1)
        self.convq = nn.Conv2d(hidden + inp, hidden, 3, padding=1)

    def forward(self, h, x):
        hx = torch.cat([h, x], dim=1)
        z, r = torch.sigmoid(self.convz(hx)), torch.sigmoid(self.convr(hx))
        q = torch.tanh(self.convq(torch.cat([r * h, x], dim=1)))
        return (1 - z) * h + z * q


class RAFT(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.hdim = self.cdim = 8 if args.small else 16
        self.radius, self.levels = 1, 2
        self.fnet = Encoder(24)
        self.cnet = Encoder(self.hdim + self.cdim)
        corr_dim = self.levels * (2 * self.radius + 1) ** 2
        self.motion = nn.Conv2d(corr_dim + 2, 14, 3, padding=1)
        self.gru = ConvGRU(self.hdim, self.cdim + 16)
        self.flow_head = nn.Conv2d(self.hdim, 2, 3, padding=1)

    def initialize_flow(self, img):
        n, _, h, w = img.shape
        return [coords_grid(n, h // 4, w // 4, img.device) for _ in range(2)]

    def forward(self, image1, image2, iters=4, flow_init=None, test_mode=False):
        image1, image2 = 2 * (image1 / 255.0) - 1.0, 2 * (image2 / 255.0) - 1.0
        fmap1, fmap2 = self.fnet(torch.cat([image1, image2])).chunk(2)
        corr_fn = CorrBlock(fmap1, fmap2, self.levels, self.radius)
        net, inp = torch.split(self.cnet(image1), [self.hdim, self.cdim], dim=1)
        net, inp = torch.tanh(net), torch.relu(inp)

        coords0, coords1 = self.initialize_flow(image1)
        if flow_init is not None:
            coords1 = coords1 + flow_init

        predictions = []
        for _ in range(iters):
            coords1 = coords1.detach()
            corr = corr_fn(coords1)
            flow = coords1 - coords0
            motion = torch.cat([torch.relu(self.motion(torch.cat([corr, flow], 1))), flow], 1)
            net = self.gru(net, torch.cat([inp, motion], 1))
            coords1 = coords1 + self.flow_head(net)
            predictions.append(upflow4(coords1 - coords0))

        if test_mode:
            return coords1 - coords0, predictions[-1]
        return predictions
