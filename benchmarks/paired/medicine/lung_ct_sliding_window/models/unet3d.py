import torch
import torch.nn as nn
import torch.nn.functional as F


class ConvBlock(nn.Sequential):
    def __init__(self, cin, cout):
        super().__init__(
            nn.Conv3d(cin, cout, 3, padding=1, bias=False),
            nn.InstanceNorm3d(cout, affine=True),
            nn.LeakyReLU(0.1, inplace=True),
        )


class UNet3D(nn.Module):
    def __init__(self, in_channels, num_classes, width=8):
        super().__init__()
        self.num_classes = num_classes
        self.enc1 = ConvBlock(in_channels, width)
        self.enc2 = ConvBlock(width, width * 2)
        self.bottom = ConvBlock(width * 2, width * 4)
        self.dec2 = ConvBlock(width * 6, width * 2)
        self.dec1 = ConvBlock(width * 3, width)
        self.head = nn.Conv3d(width, num_classes, 1)

    def forward(self, x):
        e1 = self.enc1(x)
        e2 = self.enc2(F.max_pool3d(e1, 2))
        b = self.bottom(F.max_pool3d(e2, 2))
        d2 = self.dec2(torch.cat([F.interpolate(b, size=e2.shape[2:]), e2], 1))
        d1 = self.dec1(torch.cat([F.interpolate(d2, size=e1.shape[2:]), e1], 1))
        return self.head(d1)
