import torch
import torch.nn as nn
import torch.nn.functional as F


class SmallCNN(nn.Module):
    def __init__(self, in_ch=1, num_classes=6, width=8):
        super().__init__()
        self.conv1 = nn.Conv2d(in_ch, width, 3, padding=1)
        self.gn1 = nn.GroupNorm(2, width)
        self.conv2 = nn.Conv2d(width, 2 * width, 3, padding=1)
        self.gn2 = nn.GroupNorm(2, 2 * width)
        self.head = nn.Linear(2 * width, num_classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.gn1(self.conv1(x))), 2)
        x = F.relu(self.gn2(self.conv2(x)))
        return self.head(x.mean(dim=(2, 3)))
