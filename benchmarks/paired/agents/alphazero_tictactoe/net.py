import torch
import torch.nn.functional as F
from torch import nn


class ResBlock(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.c1 = nn.Conv2d(ch, ch, 3, padding=1)
        self.b1 = nn.BatchNorm2d(ch)

    def forward(self, x):
        return F.relu(x + self.b1(self.c1(x)))


class PolicyValueNet(nn.Module):
    def __init__(self, ch=16, blocks=1):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(2, ch, 3, padding=1), nn.BatchNorm2d(ch), nn.ReLU())
        self.tower = nn.Sequential(*[ResBlock(ch) for _ in range(blocks)])
        self.pi = nn.Linear(ch * 9, 9)
        self.v = nn.Linear(ch * 9, 1)

    def forward(self, x):
        h = self.tower(self.stem(x)).flatten(1)
        return self.pi(h), torch.tanh(self.v(h)).squeeze(1)

    @torch.no_grad()
    def infer(self, planes):
        x = torch.from_numpy(planes).unsqueeze(0)
        logits, value = self(x)
        return logits[0].softmax(0).numpy(), value.item()
