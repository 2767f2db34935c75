import torch.nn as nn
import torch.nn.functional as F


class Bottleneck(nn.Module):
    """Inverted residual as in MobileNetV2"""

    def __init__(self, inp, oup, stride, expand):
        super().__init__()
        hid = inp * expand
        self.use_res = stride == 1 and inp == oup
        self.conv = nn.Sequential(
            nn.Conv2d(inp, hid, 1, bias=False), nn.BatchNorm2d(hid), nn.ReLU6(inplace=True),
            nn.Conv2d(hid, hid, 3, stride, 1, groups=hid, bias=False), nn.BatchNorm2d(hid), nn.ReLU6(inplace=True),
            nn.Conv2d(hid, oup, 1, bias=False), nn.BatchNorm2d(oup))

    def forward(self, x):
        return x + self.conv(x) if self.use_res else self.conv(x)


class MobileNet(nn.Module):
    SETTING = [(8, 1, 2), (12, 2, 2), (12, 1, 2), (16, 2, 2)]

    def __init__(self, n_class):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        blocks, inp = [], 8
        for oup, s, t in self.SETTING:
            blocks.append(Bottleneck(inp, oup, s, t))
            inp = oup
        self.blocks = nn.Sequential(*blocks)
        self.classifier = nn.Linear(inp, n_class)

    def forward(self, x):
        x = self.blocks(self.stem(x))
        return self.classifier(F.adaptive_avg_pool2d(x, 1).flatten(1))
