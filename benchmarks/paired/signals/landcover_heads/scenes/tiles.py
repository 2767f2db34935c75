"""Tiles of a made-up landscape with clouds."""
import torch
import torch.nn.functional as F
from torch.utils.data import Dataset

# mean reflectance of water, soil, grass and forest in the five bands
SPECTRA = torch.tensor([
    [0.08, 0.07, 0.05, 0.03, 0.01],
    [0.12, 0.16, 0.22, 0.28, 0.34],
    [0.05, 0.10, 0.06, 0.42, 0.22],
    [0.03, 0.06, 0.03, 0.36, 0.12],
])
CLOUDY = 255


class Tiles(Dataset):
    def __init__(self, n, size, seed):
        g = torch.Generator().manual_seed(seed)
        rough = torch.randn(n, len(SPECTRA), size // 8, size // 8, generator=g)
        cover = F.interpolate(rough, size=(size, size), mode="bilinear").argmax(1)
        light = 0.8 + 0.4 * torch.rand(n, 1, 1, 1, generator=g)
        image = SPECTRA[cover].permute(0, 3, 1, 2) * light
        image = image + 0.015 * torch.randn(image.shape, generator=g)
        cloud = F.interpolate(torch.randn(n, 1, 4, 4, generator=g), size=(size, size), mode="bilinear") > 1.0
        self.image = torch.where(cloud, 0.8, image)
        self.cover = cover.masked_fill(cloud[:, 0], CLOUDY)
        noise = torch.randn(cover.shape, generator=g)
        self.canopy = (cover == 3) * (15.0 + 3.0 * noise)

    def statistics(self):
        clear = self.cover != CLOUDY
        pixels = self.image.permute(0, 2, 3, 1)[clear]
        return pixels.mean(0), pixels.std(0)

    def __len__(self):
        return len(self.image)

    def __getitem__(self, i):
        return self.image[i], {"cover": self.cover[i], "canopy": self.canopy[i]}
