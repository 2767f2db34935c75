import torch.nn as nn
import torch.nn.functional as F


class SmallConvNet(nn.Module):
    def __init__(self, in_ch=1, width=8, num_classes=4):
        super(SmallConvNet, self).__init__()
        self.conv1 = nn.Conv2d(in_ch, width, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width * 2, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width * 2)
        self.fc1 = nn.Linear(width * 2, 32)
        self.fc2 = nn.Linear(32, num_classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.relu(self.bn2(self.conv2(x)))
        x = x.mean(dim=(2, 3))
        return self.fc2(F.relu(self.fc1(x)))


def count_parameters(model):
    return sum(p.numel() for p in model.parameters() if p.requires_grad)
