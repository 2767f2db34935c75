import torch.nn as nn
import torch.nn.functional as F


class FCN8(nn.Module):
    def __init__(self, n_classes, width=8):
        super(FCN8, self).__init__()
        self.block1 = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(2))
        self.block2 = nn.Sequential(nn.Conv2d(width, width * 2, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(2))
        self.score1 = nn.Conv2d(width, n_classes, 1)
        self.score2 = nn.Conv2d(width * 2, n_classes, 1)

    def forward(self, x):
        c1 = self.block1(x)
        c2 = self.block2(c1)
        s = F.interpolate(self.score2(c2), size=c1.shape[2:], mode='bilinear', align_corners=False) + self.score1(c1)
        return F.interpolate(s, size=x.shape[2:], mode='bilinear', align_corners=False), None
