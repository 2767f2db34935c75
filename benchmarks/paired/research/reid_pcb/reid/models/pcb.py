import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import init

from .backbone import SmallResNet


class PCB(nn.Module):
    """Part-based Convolutional Baseline (Sun et al., ECCV 2018)."""

    def __init__(self, num_classes, feat_dim=16, num_stripes=4, dropout=0.5):
        super(PCB, self).__init__()
        self.num_stripes = num_stripes
        self.base = SmallResNet()
        self.pool = nn.AdaptiveAvgPool2d((num_stripes, 1))
        self.drop = nn.Dropout(dropout)

        self.local_conv = nn.Conv2d(self.base.out_planes, feat_dim, 1)
        self.local_bn = nn.BatchNorm2d(feat_dim)
        init.kaiming_normal_(self.local_conv.weight, mode='fan_out')
        init.constant_(self.local_conv.bias, 0)

        self.fc_list = nn.ModuleList()
        for _ in range(num_stripes):
            fc = nn.Linear(feat_dim, num_classes)
            init.normal_(fc.weight, std=0.001)
            init.constant_(fc.bias, 0)
            self.fc_list.append(fc)

    def forward(self, x):
        feat = self.pool(self.base(x))
        if not self.training:
            feat = feat.view(feat.size(0), -1)
            return F.normalize(feat, dim=1)

        feat = self.drop(feat)
        feat = F.relu(self.local_bn(self.local_conv(feat)))
        logits = []
        for i in range(self.num_stripes):
            part = feat[:, :, i, 0]
            logits.append(self.fc_list[i](part))
        return logits, feat.mean(3).mean(2)
