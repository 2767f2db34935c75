import torch
from torch import nn
from torch.utils.data import Dataset

from byol_pytorch import BYOLTrainer


class Gradients(Dataset):
    def __init__(self, length, size):
        self.length = length
        self.ramp = torch.linspace(-1, 1, size)

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        a, b = torch.randn(2, 3, 1, 1)
        return torch.tanh(a * self.ramp[:, None] + b * self.ramp[None, :])


class TinyResNet(nn.Module):
    def __init__(self, num_classes=10):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU())
        self.block = nn.Sequential(nn.Conv2d(16, 16, 3, 1, 1), nn.BatchNorm2d(16))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(16, num_classes)

    def forward(self, x):
        x = self.stem(x)
        x = torch.relu(x + self.block(x))
        return self.fc(self.avgpool(x).flatten(1))


if __name__ == '__main__':
    torch.manual_seed(0)
    size = 16
    trainer = BYOLTrainer(TinyResNet(), Gradients(96, size), image_size=size, hidden_layer='avgpool')
    backbone = trainer.fit(epochs=2)
    print('backbone parameters', sum(p.numel() for p in backbone.parameters()))
