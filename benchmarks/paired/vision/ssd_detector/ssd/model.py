import torch
import torch.nn as nn

from .boxes import decode


def stage(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, 2, 1, bias=False), nn.BatchNorm2d(cout), nn.ReLU())


class TinySSD(nn.Module):
    def __init__(self, num_classes, anchors):
        super().__init__()
        self.num_classes = num_classes
        self.anchors = anchors
        self.stem = nn.Sequential(stage(3, 12), stage(12, 16))
        self.stages = nn.ModuleList([stage(16, 24), stage(24, 24)])
        k = anchors.per_cell
        self.loc = nn.ModuleList([nn.Conv2d(24, 4 * k, 3, padding=1) for _ in self.stages])
        self.conf = nn.ModuleList([nn.Conv2d(24, (num_classes + 1) * k, 3, padding=1) for _ in self.stages])

    def forward(self, images):
        x = self.stem(images)
        maps = []
        for s in self.stages:
            x = s(x)
            maps.append(x)
        n = images.size(0)
        loc = torch.cat([l(f).permute(0, 2, 3, 1).reshape(n, -1, 4) for l, f in zip(self.loc, maps)], dim=1)
        conf = torch.cat([c(f).permute(0, 2, 3, 1).reshape(n, -1, self.num_classes + 1)
                          for c, f in zip(self.conf, maps)], dim=1)
        return loc, conf, self.anchors(maps)

    @torch.no_grad()
    def predict(self, images, score=0.3):
        self.eval()
        loc, conf, anchors = self(images)
        out = []
        for l, c in zip(loc, conf.softmax(-1)):
            s, cls = c[:, 1:].max(dim=1)
            keep = s > score
            out.append((decode(l, anchors)[keep], s[keep], cls[keep]))
        return out
