import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


class FCN(nn.Module):
    """FCN-16s style: two resolutions of class scores are summed."""

    def __init__(self, num_classes: int, width: int = 12) -> None:
        super().__init__()
        self.enc1 = nn.Sequential(nn.Conv2d(3, width, 3, stride=2, padding=1), nn.ReLU())
        self.enc2 = nn.Sequential(nn.Conv2d(width, width * 2, 3, stride=2, padding=1), nn.ReLU())
        self.score1 = nn.Conv2d(width, num_classes, 1)
        self.score2 = nn.Conv2d(width * 2, num_classes, 1)

    def forward(self, x: Tensor) -> Tensor:
        e1 = self.enc1(x)
        e2 = self.enc2(e1)
        s = F.interpolate(self.score2(e2), size=e1.shape[-2:], mode="bilinear", align_corners=False)
        s = s + self.score1(e1)
        return F.interpolate(s, size=x.shape[-2:], mode="bilinear", align_corners=False)
