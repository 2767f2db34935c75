import torch
import torch.nn as nn

CFG = [12, 12, 'M', 24, 24, 'M', 32]


def make_features(cfg=CFG, seed=0):
    """A VGG-like stack. Pretrained weights are replaced by orthogonal ones here."""
    torch.manual_seed(seed)
    layers, channels = [], 3
    for v in cfg:
        if v == 'M':
            layers.append(nn.MaxPool2d(2))
            continue
        conv = nn.Conv2d(channels, v, 3, padding=1)
        nn.init.orthogonal_(conv.weight)
        nn.init.zeros_(conv.bias)
        layers += [conv, nn.ReLU(inplace=True)]
        channels = v
    return nn.Sequential(*layers)


class Normalization(nn.Module):
    def __init__(self, mean, std):
        super(Normalization, self).__init__()
        # .view the mean and std to make them [C x 1 x 1] so that they can
        # directly work with image Tensor of shape [B x C x H x W].
        self.mean = torch.as_tensor(mean).view(-1, 1, 1)
        self.std = torch.as_tensor(std).view(-1, 1, 1)

    def forward(self, img):
        return (img - self.mean) / self.std
