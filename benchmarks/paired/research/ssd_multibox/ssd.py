import torch
import torch.nn as nn
import torch.nn.functional as F

from layers import Detect, PriorBox


class L2Norm(nn.Module):
    def __init__(self, n_channels, scale):
        super(L2Norm, self).__init__()
        self.weight = nn.Parameter(torch.Tensor(n_channels).fill_(scale))
        self.eps = 1e-10

    def forward(self, x):
        norm = x.pow(2).sum(dim=1, keepdim=True).sqrt() + self.eps
        return self.weight.view(1, -1, 1, 1) * (x / norm)


class SSD(nn.Module):
    def __init__(self, phase, cfg):
        super(SSD, self).__init__()
        self.phase = phase
        self.num_classes = cfg['num_classes']
        self.register_buffer('priors', PriorBox(cfg).forward())
        c = 12
        self.vgg = nn.ModuleList([nn.Conv2d(3, c, 3, padding=1, stride=2), nn.Conv2d(c, c, 3, padding=1, stride=2)])
        self.L2Norm = L2Norm(c, 5)
        self.extras = nn.ModuleList([nn.Conv2d(c, c, 3, padding=1, stride=2)])
        mbox = [1 + 2 * len(a) for a in cfg['aspect_ratios']]
        self.loc = nn.ModuleList([nn.Conv2d(c, m * 4, 3, padding=1) for m in mbox])
        self.conf = nn.ModuleList([nn.Conv2d(c, m * self.num_classes, 3, padding=1) for m in mbox])
        self.detect = Detect(self.num_classes, 20, 0.25, 0.45, cfg['variance'])

    def forward(self, x):
        sources = []
        for layer in self.vgg:
            x = F.relu(layer(x))
        sources.append(self.L2Norm(x))
        for layer in self.extras:
            x = F.relu(layer(x), inplace=True)
            sources.append(x)
        loc = torch.cat([l(s).permute(0, 2, 3, 1).reshape(x.size(0), -1) for s, l in zip(sources, self.loc)], 1)
        conf = torch.cat([c(s).permute(0, 2, 3, 1).reshape(x.size(0), -1) for s, c in zip(sources, self.conf)], 1)
        loc = loc.view(loc.size(0), -1, 4)
        conf = conf.view(conf.size(0), -1, self.num_classes)
        if self.phase == 'test':
            return self.detect(loc, conf, self.priors)
        return loc, conf, self.priors


def build_ssd(phase, cfg):
    if phase != 'test' and phase != 'train':
        raise ValueError('Phase: ' + phase + ' not recognized')
    return SSD(phase, cfg)
