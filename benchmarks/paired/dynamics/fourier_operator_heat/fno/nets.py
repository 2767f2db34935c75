import torch
import torch.nn as nn
import torch.nn.functional as F

from .registry import NETS


class SpectralConv2d(nn.Module):
    def __init__(self, channels, modes):
        super().__init__()
        self.modes = modes
        scale = 1.0 / channels
        self.w_pos = nn.Parameter(scale * torch.randn(channels, channels, modes, modes, dtype=torch.cfloat))
        self.w_neg = nn.Parameter(scale * torch.randn(channels, channels, modes, modes, dtype=torch.cfloat))

    def forward(self, x):
        b, c, h, w = x.shape
        m = self.modes
        ft = torch.fft.rfft2(x)
        out = torch.zeros(b, c, h, w // 2 + 1, dtype=ft.dtype, device=ft.device)
        out[..., :m, :m] = torch.einsum("bixy,ioxy->boxy", ft[..., :m, :m], self.w_pos)
        out[..., -m:, :m] = torch.einsum("bixy,ioxy->boxy", ft[..., -m:, :m], self.w_neg)
        return torch.fft.irfft2(out, s=(h, w))


@NETS.register("fno2d")
class FNO2d(nn.Module):
    def __init__(self, width=8, modes=3, depth=2, grid=True):
        super().__init__()
        self.grid = grid
        self.lift = nn.Conv2d(3 if grid else 1, width, 1)
        self.spectral = nn.ModuleList(SpectralConv2d(width, modes) for _ in range(depth))
        self.local = nn.ModuleList(nn.Conv2d(width, width, 1) for _ in range(depth))
        self.head = nn.Sequential(nn.Conv2d(width, 2 * width, 1), nn.GELU(), nn.Conv2d(2 * width, 1, 1))

    def coordinates(self, x):
        b, _, h, w = x.shape
        gy, gx = torch.meshgrid(
            torch.linspace(0, 1, h, device=x.device), torch.linspace(0, 1, w, device=x.device), indexing="ij"
        )
        return torch.stack([gy, gx]).expand(b, -1, -1, -1)

    def forward(self, x):
        if self.grid:
            x = torch.cat([x, self.coordinates(x)], dim=1)
        h = self.lift(x)
        for spec, loc in zip(self.spectral, self.local):
            h = F.gelu(spec(h) + loc(h))
        return self.head(h)
