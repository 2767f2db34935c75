from collections import OrderedDict

from torch import nn


class Stage(nn.Sequential):
    def __init__(self, cin, cout):
        super().__init__(
            nn.Conv2d(cin, cout, 3, stride=2, padding=1, bias=False),
            nn.GroupNorm(4, cout),
            nn.ReLU(inplace=True),
        )


class Backbone(nn.Module):
    def __init__(self, widths=(8, 16, 24, 32)):
        super().__init__()
        self.stages = nn.ModuleList()
        cin = 3
        for w in widths:
            self.stages.append(Stage(cin, w))
            cin = w
        self.out_channels = list(widths[1:])

    def forward(self, x):
        feats = OrderedDict()
        for i, stage in enumerate(self.stages):
            x = stage(x)
            if i > 0:
                feats["c%d" % (i + 1)] = x
        return feats
