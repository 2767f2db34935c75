import torch
import torch.nn as nn
import torch.nn.functional as F

from .registry import register


class TCNBlock(nn.Module):
    def __init__(self, ch, hidden, dilation):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(ch, hidden, 1), nn.PReLU(), nn.GroupNorm(1, hidden),
            nn.Conv1d(hidden, hidden, 3, padding=dilation, dilation=dilation, groups=hidden),
            nn.PReLU(), nn.GroupNorm(1, hidden), nn.Conv1d(hidden, ch, 1))

    def forward(self, x):
        return x + self.net(x)


@register("net", "conv_tasnet")
class ConvTasNet(nn.Module):
    def __init__(self, n_src, filters=16, kernel=16, hidden=24, layers=3):
        super().__init__()
        self.n_src, self.filters = n_src, filters
        self.encoder = nn.Conv1d(1, filters, kernel, stride=kernel // 2, bias=False)
        self.tcn = nn.Sequential(nn.GroupNorm(1, filters),
                                 *[TCNBlock(filters, hidden, 2 ** i) for i in range(layers)])
        self.mask = nn.Conv1d(filters, filters * n_src, 1)
        self.decoder = nn.ConvTranspose1d(filters, 1, kernel, stride=kernel // 2, bias=False)

    def forward(self, mix):
        enc = F.relu(self.encoder(mix.unsqueeze(1)))
        masks = torch.sigmoid(self.mask(self.tcn(enc)))
        masks = masks.view(mix.size(0), self.n_src, self.filters, -1)
        out = self.decoder((masks * enc.unsqueeze(1)).flatten(0, 1))
        out = F.pad(out, (0, mix.size(-1) - out.size(-1)))
        return out.view(mix.size(0), self.n_src, -1)
