import torch.nn as nn
import torch.nn.init as init


class ESPCN(nn.Module):
    def __init__(self, upscale_factor, channels=3):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(channels, 24, 5, padding=2), nn.Tanh(),
            nn.Conv2d(24, 16, 3, padding=1), nn.Tanh(),
            nn.Conv2d(16, channels * upscale_factor ** 2, 3, padding=1),
            nn.PixelShuffle(upscale_factor),
        )
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                init.orthogonal_(m.weight, init.calculate_gain('tanh'))

    def forward(self, x):
        return self.net(x)
