import torch.nn as nn

from .registry import MODELS


@MODELS.register("convnet")
class ConvNet(nn.Module):
    def __init__(self, width=8, depth=2, num_classes=5):
        super().__init__()
        layers, c = [], 1
        for i in range(depth):
            layers += [nn.Conv2d(c, width * 2 ** i, 3, padding=1, bias=False),
                       nn.BatchNorm2d(width * 2 ** i), nn.ReLU(inplace=True), nn.MaxPool2d(2)]
            c = width * 2 ** i
        self.features = nn.Sequential(*layers)
        self.fc = nn.Linear(c, num_classes)

    def forward(self, x, return_feat=False):
        feat = self.features(x).mean((2, 3))
        logits = self.fc(feat)
        return (logits, feat) if return_feat else logits
