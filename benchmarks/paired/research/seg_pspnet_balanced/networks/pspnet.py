import torch
import torch.nn as nn
import torch.nn.functional as F


def conv_bn(cin, cout, k=3, **kw):
    return nn.Sequential(nn.Conv2d(cin, cout, k, bias=False, **kw), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class PyramidPooling(nn.Module):
    def __init__(self, cin, bins=(1, 2, 4)):
        super(PyramidPooling, self).__init__()
        self.stages = nn.ModuleList([
            nn.Sequential(nn.AdaptiveAvgPool2d(b), nn.Conv2d(cin, cin // len(bins), 1, bias=False)) for b in bins])

    def forward(self, x):
        size = x.shape[2:]
        out = [x]
        for stage in self.stages:
            out.append(F.interpolate(stage(x), size=size, mode='bilinear', align_corners=False))
        return torch.cat(out, 1)


class PSPNet(nn.Module):
    def __init__(self, n_classes, width=12):
        super(PSPNet, self).__init__()
        self.layer0 = conv_bn(3, width, stride=2, padding=1)
        self.layer1 = conv_bn(width, width, padding=2, dilation=2)
        self.ppm = PyramidPooling(width)
        self.final = nn.Sequential(conv_bn(2 * width, width, padding=1), nn.Conv2d(width, n_classes, 1))
        self.aux = nn.Conv2d(width, n_classes, 1)

    def forward(self, x):
        size = x.shape[2:]
        f0 = self.layer0(x)
        f = self.layer1(f0)
        out = F.interpolate(self.final(self.ppm(f)), size=size, mode='bilinear', align_corners=False)
        if self.training:
            return out, F.interpolate(self.aux(f0), size=size, mode='bilinear', align_corners=False)
        return out, None
