import torch.nn as nn
import torch.nn.functional as F

from .backbone import SmallResNet


class GlobalNet(nn.Module):
    """Global average pooling baseline."""

    def __init__(self, num_classes, feat_dim=16, **kwargs):
        super(GlobalNet, self).__init__()
        self.base = SmallResNet()
        self.embed = nn.Linear(self.base.out_planes, feat_dim)
        self.bn = nn.BatchNorm1d(feat_dim)
        self.classifier = nn.Linear(feat_dim, num_classes)

    def forward(self, x):
        f = self.base(x).mean(3).mean(2)
        f = self.bn(self.embed(f))
        if not self.training:
            return F.normalize(f, dim=1)
        return [self.classifier(f)], f
