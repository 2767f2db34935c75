import torch
import torch.nn.functional as F
from torch import nn


class Mlp(nn.Module):
    def __init__(self, inputs=20, width=48, classes=6):
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.second = nn.Linear(width, width)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(F.relu(self.second(F.relu(self.first(x)))))


def blobs(n, seed, inputs=20, classes=6):
    centers = torch.randn(classes, inputs, generator=torch.Generator().manual_seed(99))
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(classes, (n,), generator=g)
    return centers[y] + 0.9 * torch.randn(n, inputs, generator=g), y


def train(model, data, steps, device, after_backward=None, lr=0.05, batch=64):
    x, y = data
    opt = torch.optim.SGD(model.parameters(), lr=lr)
    model.train()
    for _ in range(steps):
        pick = torch.randint(len(x), (batch,))
        loss = F.cross_entropy(model(x[pick].to(device)), y[pick].to(device))
        opt.zero_grad()
        loss.backward()
        if after_backward is not None:
            after_backward()
        opt.step()
    return loss.item()


@torch.no_grad()
def accuracy(model, data, device):
    model.eval()
    x, y = data
    return (model(x.to(device)).argmax(1).cpu() == y).float().mean().item()
