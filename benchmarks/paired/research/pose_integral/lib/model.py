import torch.nn as nn
import torch.nn.functional as F


class Residual(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.conv = nn.Sequential(nn.BatchNorm2d(cin), nn.ReLU(), nn.Conv2d(cin, cout, 3, padding=1))
        self.skip = nn.Identity() if cin == cout else nn.Conv2d(cin, cout, 1)

    def forward(self, x):
        return self.conv(x) + self.skip(x)


class Hourglass(nn.Module):
    def __init__(self, n, c):
        super().__init__()
        self.up = Residual(c, c)
        self.low1 = Residual(c, c)
        self.low2 = Hourglass(n - 1, c) if n > 1 else Residual(c, c)
        self.low3 = Residual(c, c)

    def forward(self, x):
        low = self.low3(self.low2(self.low1(F.max_pool2d(x, 2))))
        return self.up(x) + F.interpolate(low, scale_factor=2)


class HourglassNet(nn.Module):
    def __init__(self, stacks, joints, c=8):
        super().__init__()
        self.pre = nn.Conv2d(3, c, 5, stride=2, padding=2)
        self.hgs = nn.ModuleList([Hourglass(2, c) for _ in range(stacks)])
        self.outs = nn.ModuleList([nn.Conv2d(c, joints, 1) for _ in range(stacks)])
        self.merge = nn.ModuleList([nn.Conv2d(joints, c, 1) for _ in range(stacks - 1)])

    def forward(self, x):
        x = self.pre(x)
        ret = []
        for i, (hg, out) in enumerate(zip(self.hgs, self.outs)):
            f = hg(x)
            ret.append(out(f))
            if i < len(self.merge):
                x = x + f + self.merge[i](ret[-1])
        return ret


class SimpleNet(nn.Module):
    def __init__(self, joints, c=8):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, c, 5, stride=2, padding=2), Residual(c, c), Residual(c, c),
                                 nn.Conv2d(c, joints, 1))

    def forward(self, x):
        return [self.net(x)]


def create_model(args):
    if args.arch == 'hourglass':
        return HourglassNet(args.num_stacks, args.num_joints)
    elif args.arch == 'simple':
        return SimpleNet(args.num_joints)
    raise NotImplementedError(args.arch)


def load_model(model, path):
    import torch
    state = torch.load(path, map_location=lambda storage, loc: storage)
    model.load_state_dict(state['state_dict'])
    return model
