import torch.nn as nn

from .registry import OPS


@OPS.register("skip")
class Skip(nn.Identity):
    def __init__(self, channels):
        super().__init__()


@OPS.register("zero")
class Zero(nn.Module):
    def __init__(self, channels):
        super().__init__()

    def forward(self, x):
        return x * 0.0


@OPS.register("conv3")
class Conv3(nn.Sequential):
    def __init__(self, channels):
        super().__init__(
            nn.ReLU(), nn.Conv1d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm1d(channels)
        )


@OPS.register("dwconv5")
class DepthwiseConv5(nn.Sequential):
    def __init__(self, channels):
        super().__init__(
            nn.ReLU(),
            nn.Conv1d(channels, channels, 5, padding=2, groups=channels, bias=False),
            nn.Conv1d(channels, channels, 1, bias=False),
            nn.BatchNorm1d(channels),
        )


@OPS.register("avgpool")
class AvgPool(nn.AvgPool1d):
    def __init__(self, channels):
        super().__init__(3, stride=1, padding=1, count_include_pad=False)
