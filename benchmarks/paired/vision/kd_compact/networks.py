from typing import List

import torch.nn as nn


class ConvNet(nn.Module):
    """Plain stack of conv blocks; returns the logits and the last feature map."""

    def __init__(self, widths: List[int], num_classes: int):
        super().__init__()
        blocks, c_in = [], 3
        for w in widths:
            blocks += [nn.Conv2d(c_in, w, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(w), nn.ReLU()]
            c_in = w
        self.features = nn.Sequential(*blocks)
        self.fc = nn.Linear(c_in, num_classes)
        self.out_channels = c_in

    def forward(self, x):
        f = self.features(x)
        return self.fc(f.mean(dim=(-2, -1))), f


class HintRegressor(nn.Module):
    def __init__(self, c_student: int, c_teacher: int):
        super().__init__()
        self.proj = nn.Conv2d(c_student, c_teacher, 1)

    def forward(self, f_student, size):
        return nn.functional.adaptive_avg_pool2d(self.proj(f_student), size)
