import copy
import math
import random

import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

DEVICE = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
NUM_CLASSES = 8
EPOCHS = 2
BATCH = 16
CUTMIX_PROB = 0.5
EMA_DECAY = 0.9


class Blobs(Dataset):
    """coloured gaussian blobs, class = position on a circle"""

    def __init__(self, n, size=20, seed=0):
        rng = random.Random(seed)
        self.items = []
        yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing='ij')
        for _ in range(n):
            c = rng.randrange(NUM_CLASSES)
            a = 2 * math.pi * c / NUM_CLASSES
            cx, cy = size / 2 + 6 * math.cos(a), size / 2 + 6 * math.sin(a)
            blob = torch.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / 8.0)
            img = blob.expand(3, -1, -1) + 0.1 * torch.randn(3, size, size)
            self.items.append((img, c))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def conv_bn(i, o, s):
    return nn.Sequential(nn.Conv2d(i, o, 3, s, 1, bias=False), nn.BatchNorm2d(o), nn.SiLU())


def build_net():
    return nn.Sequential(
        conv_bn(3, 12, 1), conv_bn(12, 24, 2), conv_bn(24, 24, 2),
        nn.Flatten(), nn.Linear(24 * 25, NUM_CLASSES))


class ModelEma:
    def __init__(self, model, decay):
        self.module = copy.deepcopy(model).eval()
        for p in self.module.parameters():
            p.requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for e, m in zip(self.module.state_dict().values(), model.state_dict().values()):
            if e.dtype.is_floating_point:
                e.mul_(self.decay).add_(m, alpha=1 - self.decay)
            else:
                e.copy_(m)


def rand_bbox(h, w, lam):
    cut = math.sqrt(1. - lam)
    ch, cw = int(h * cut), int(w * cut)
    cy, cx = random.randrange(h), random.randrange(w)
    y1, y2 = max(cy - ch // 2, 0), min(cy + ch // 2, h)
    x1, x2 = max(cx - cw // 2, 0), min(cx + cw // 2, w)
    return y1, y2, x1, x2


def cutmix(x, y):
    lam = random.betavariate(1.0, 1.0)
    perm = torch.randperm(x.size(0), device=x.device)
    y1, y2, x1, x2 = rand_bbox(x.size(2), x.size(3), lam)
    x = x.clone()
    x[:, :, y1:y2, x1:x2] = x[perm, :, y1:y2, x1:x2]
    lam = 1 - (y2 - y1) * (x2 - x1) / (x.size(2) * x.size(3))
    return x, y, y[perm], lam


def evaluate(model, loader):
    model.eval()
    hits = n = 0
    with torch.no_grad():
        for x, y in loader:
            x, y = x.to(DEVICE), y.to(DEVICE)
            hits += (model(x).argmax(1) == y).sum().item()
            n += y.numel()
    return hits / n


random.seed(11)
torch.manual_seed(11)

train_loader = DataLoader(Blobs(96), batch_size=BATCH, shuffle=True, drop_last=True)
val_loader = DataLoader(Blobs(32, seed=1), batch_size=32)

net = build_net()
net.to(DEVICE)
ema = ModelEma(net, EMA_DECAY)

criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True)
scheduler = torch.optim.lr_scheduler.OneCycleLR(
    optimizer, max_lr=0.1, total_steps=EPOCHS * len(train_loader))

for epoch in range(EPOCHS):
    net.train()
    running = 0.0
    for x, y in train_loader:
        x, y = x.to(DEVICE), y.to(DEVICE)
        if random.random() < CUTMIX_PROB:
            x, ya, yb, lam = cutmix(x, y)
            out = net(x)
            loss = lam * criterion(out, ya) + (1 - lam) * criterion(out, yb)
        else:
            loss = criterion(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        ema.update(net)
        running += loss.item()
    print(f'epoch {epoch}: loss {running / len(train_loader):.3f} '
          f'val {evaluate(net, val_loader):.3f} ema {evaluate(ema.module, val_loader):.3f}')
