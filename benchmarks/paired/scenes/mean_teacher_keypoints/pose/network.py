import torch
from torch import nn


def conv_bn(i, o, s=1):
    return nn.Sequential(nn.Conv2d(i, o, 3, s, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(True))


class SimplePose(nn.Module):
    def __init__(self, joints, width=12):
        super().__init__()
        self.stem = nn.Sequential(conv_bn(3, width, 2), conv_bn(width, 2 * width, 2))
        self.down = conv_bn(2 * width, 3 * width, 2)
        self.up = nn.ConvTranspose2d(3 * width, 2 * width, 4, 2, 1)
        self.head = nn.Conv2d(2 * width, joints, 1)
        nn.init.normal_(self.head.weight, std=0.01)
        nn.init.zeros_(self.head.bias)

    def forward(self, x):
        s = self.stem(x)
        return self.head(torch.relu(s + self.up(self.down(s))))
