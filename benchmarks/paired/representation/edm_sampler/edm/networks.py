import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


class FourierEmbedding(nn.Module):
    def __init__(self, num_channels, scale=16):
        super().__init__()
        self.register_buffer('freqs', torch.randn(num_channels // 2) * scale)

    def forward(self, x):
        x = x.ger((2 * np.pi * self.freqs).to(x.dtype))
        return torch.cat([x.cos(), x.sin()], dim=1)


class ConvUNet(nn.Module):
    def __init__(self, img_channels, model_channels=16, label_dim=0):
        super().__init__()
        emb = model_channels * 2
        self.map_noise = FourierEmbedding(model_channels, scale=1)
        self.map_label = nn.Linear(label_dim, emb, bias=False) if label_dim else None
        self.map_layer = nn.Linear(model_channels, emb)
        self.conv_in = nn.Conv2d(img_channels, model_channels, 3, padding=1)
        self.affine0 = nn.Linear(emb, model_channels)
        self.down = nn.Conv2d(model_channels, emb, 3, stride=2, padding=1)
        self.affine1 = nn.Linear(emb, emb)
        self.up = nn.ConvTranspose2d(emb, model_channels, 2, stride=2)
        self.conv_out = nn.Conv2d(model_channels * 2, img_channels, 3, padding=1)
        nn.init.zeros_(self.conv_out.weight)

    def forward(self, x, noise_labels, class_labels=None):
        emb = self.map_layer(self.map_noise(noise_labels))
        if self.map_label is not None:
            emb = emb + self.map_label(class_labels)
        emb = F.silu(emb)
        h0 = F.silu(self.conv_in(x) + self.affine0(emb)[:, :, None, None])
        h1 = F.silu(self.down(h0) + self.affine1(emb)[:, :, None, None])
        return self.conv_out(torch.cat([self.up(h1), h0], dim=1))


class EDMPrecond(nn.Module):
    """Improved preconditioning proposed in the paper "Elucidating the Design Space of
    Diffusion-Based Generative Models" (EDM)."""

    def __init__(self, img_resolution, img_channels, label_dim=0, sigma_min=0.002, sigma_max=80.0, sigma_data=0.5):
        super().__init__()
        self.img_resolution = img_resolution
        self.img_channels = img_channels
        self.label_dim = label_dim
        self.sigma_min = sigma_min
        self.sigma_max = sigma_max
        self.sigma_data = sigma_data
        self.model = ConvUNet(img_channels, label_dim=label_dim)

    def forward(self, x, sigma, class_labels=None):
        x = x.to(torch.float32)
        sigma = torch.as_tensor(sigma, dtype=torch.float32, device=x.device).reshape(-1, 1, 1, 1)
        c_skip = self.sigma_data ** 2 / (sigma ** 2 + self.sigma_data ** 2)
        c_out = sigma * self.sigma_data / (sigma ** 2 + self.sigma_data ** 2).sqrt()
        c_in = 1 / (self.sigma_data ** 2 + sigma ** 2).sqrt()
        c_noise = (sigma.log() / 4).flatten().expand(x.shape[0])
        F_x = self.model(c_in * x, c_noise, class_labels=class_labels)
        return c_skip * x + c_out * F_x
