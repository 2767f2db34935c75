import torch.nn as nn
import torch.nn.functional as F


class Residual(nn.Module):
    def __init__(self, c):
        super(Residual, self).__init__()
        self.conv = nn.Sequential(
            nn.BatchNorm2d(c), nn.ReLU(), nn.Conv2d(c, c // 2, 1),
            nn.BatchNorm2d(c // 2), nn.ReLU(), nn.Conv2d(c // 2, c, 3, padding=1))

    def forward(self, x):
        return x + self.conv(x)


class Hourglass(nn.Module):
    def __init__(self, depth, c):
        super(Hourglass, self).__init__()
        self.skip = Residual(c)
        self.down = Residual(c)
        self.inner = Hourglass(depth - 1, c) if depth > 1 else Residual(c)
        self.up = Residual(c)

    def forward(self, x):
        low = self.up(self.inner(self.down(F.max_pool2d(x, 2))))
        return self.skip(x) + F.interpolate(low, scale_factor=2, mode='nearest')


class StackedHourglass(nn.Module):
    def __init__(self, channels, num_joints, stacks):
        super(StackedHourglass, self).__init__()
        self.pre = nn.Sequential(nn.Conv2d(3, channels, 5, stride=2, padding=2), nn.BatchNorm2d(channels), nn.ReLU())
        self.hgs = nn.ModuleList([Hourglass(2, channels) for _ in range(stacks)])
        self.heads = nn.ModuleList([nn.Conv2d(channels, num_joints, 1) for _ in range(stacks)])
        self.merge = nn.ModuleList([nn.Conv2d(num_joints, channels, 1) for _ in range(stacks - 1)])

    def forward(self, x):
        x = self.pre(x)
        outputs = []
        for i, (hg, head) in enumerate(zip(self.hgs, self.heads)):
            y = hg(x)
            outputs.append(head(y))
            if i < len(self.merge):
                x = x + y + self.merge[i](outputs[-1])
        return outputs


def get_pose_net(cfg):
    m = cfg['MODEL']
    return StackedHourglass(m['CHANNELS'], m['NUM_JOINTS'], m['STACKS'])
