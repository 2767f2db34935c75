import torch.nn as nn
import torch.nn.functional as F


def conv_bn(cin, cout, stride):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, stride, 1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class SupConConvNet(nn.Module):
    """backbone + projection head"""

    def __init__(self, dim_in=32, head='mlp', feat_dim=16):
        super(SupConConvNet, self).__init__()
        self.encoder = nn.Sequential(conv_bn(3, 16, 1), conv_bn(16, dim_in, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        if head == 'linear':
            self.head = nn.Linear(dim_in, feat_dim)
        elif head == 'mlp':
            self.head = nn.Sequential(nn.Linear(dim_in, dim_in), nn.ReLU(inplace=True), nn.Linear(dim_in, feat_dim))
        else:
            raise NotImplementedError('head not supported: {}'.format(head))

    def forward(self, x):
        return F.normalize(self.head(self.encoder(x)), dim=1)


class LinearClassifier(nn.Module):
    def __init__(self, dim_in=32, num_classes=10):
        super(LinearClassifier, self).__init__()
        self.fc = nn.Linear(dim_in, num_classes)

    def forward(self, features):
        return self.fc(features)
