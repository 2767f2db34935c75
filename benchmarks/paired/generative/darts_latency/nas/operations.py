import torch.nn as nn


class Zero(nn.Module):
    def forward(self, x):
        return x * 0.0


def conv(k):
    return lambda c: nn.Sequential(
        nn.ReLU(), nn.Conv1d(c, c, k, padding=k // 2, groups=c, bias=False),
        nn.Conv1d(c, c, 1, bias=False), nn.BatchNorm1d(c, affine=False),
    )


OPS = {
    "none": lambda c: Zero(),
    "skip": lambda c: nn.Identity(),
    "avg3": lambda c: nn.AvgPool1d(3, stride=1, padding=1, count_include_pad=False),
    "sep3": conv(3),
    "sep5": conv(5),
}
PRIMITIVES = list(OPS)
