from collections import OrderedDict

import torch.nn as nn


def lenet(num_classes=6):
    return nn.Sequential(OrderedDict([
        ('conv1', nn.Conv2d(1, 8, 3, padding=1)), ('relu1', nn.ReLU()), ('pool1', nn.MaxPool2d(2)),
        ('conv2', nn.Conv2d(8, 16, 3, padding=1)), ('relu2', nn.ReLU()), ('pool2', nn.MaxPool2d(2)),
        ('flat', nn.Flatten()),
        ('fc1', nn.Linear(16 * 9, 64)), ('relu3', nn.ReLU()),
        ('fc2', nn.Linear(64, num_classes)),
    ]))
