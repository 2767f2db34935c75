import torch
import torch.nn as nn
from torch.nn.utils import spectral_norm

from utils import get_device


class SelfAttn(nn.Module):
    """ Self attention Layer"""

    def __init__(self, in_dim):
        super(SelfAttn, self).__init__()
        self.query_conv = nn.Conv2d(in_dim, in_dim // 4, kernel_size=1)
        self.key_conv = nn.Conv2d(in_dim, in_dim // 4, kernel_size=1)
        self.value_conv = nn.Conv2d(in_dim, in_dim, kernel_size=1)
        self.gamma = nn.Parameter(torch.zeros(1, device=get_device()))
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        b, c, w, h = x.size()
        q = self.query_conv(x).view(b, -1, w * h).permute(0, 2, 1)
        k = self.key_conv(x).view(b, -1, w * h)
        attention = self.softmax(torch.bmm(q, k))
        v = self.value_conv(x).view(b, -1, w * h)
        out = torch.bmm(v, attention.permute(0, 2, 1)).view(b, c, w, h)
        return self.gamma * out + x, attention


class Generator(nn.Module):
    def __init__(self, z_dim, conv_dim):
        super(Generator, self).__init__()
        self.l1 = nn.Sequential(
            spectral_norm(nn.ConvTranspose2d(z_dim, conv_dim * 4, 4)),
            nn.BatchNorm2d(conv_dim * 4), nn.ReLU())
        self.l2 = nn.Sequential(
            spectral_norm(nn.ConvTranspose2d(conv_dim * 4, conv_dim * 2, 4, 2, 1)),
            nn.BatchNorm2d(conv_dim * 2), nn.ReLU())
        self.attn = SelfAttn(conv_dim * 2)
        self.last = nn.Sequential(nn.ConvTranspose2d(conv_dim * 2, 3, 4, 2, 1), nn.Tanh())

    def forward(self, z):
        out = self.l2(self.l1(z.view(z.size(0), z.size(1), 1, 1)))
        out, p = self.attn(out)
        return self.last(out), p


class Discriminator(nn.Module):
    def __init__(self, conv_dim):
        super(Discriminator, self).__init__()
        self.l1 = nn.Sequential(spectral_norm(nn.Conv2d(3, conv_dim, 4, 2, 1)), nn.LeakyReLU(0.1))
        self.l2 = nn.Sequential(spectral_norm(nn.Conv2d(conv_dim, conv_dim * 2, 4, 2, 1)), nn.LeakyReLU(0.1))
        self.attn = SelfAttn(conv_dim * 2)
        self.last = nn.Conv2d(conv_dim * 2, 1, 4)

    def forward(self, x):
        out, p = self.attn(self.l2(self.l1(x)))
        return self.last(out).squeeze(), p
