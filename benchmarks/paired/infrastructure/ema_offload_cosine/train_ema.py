"""Small image classifier trained with AdamW, warmup + cosine decay and an
exponential moving average of the weights.

    python train_ema.py --epochs 3 --ema-decay 0.98
"""
import argparse
import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--warmup", type=int, default=6)
    p.add_argument("--ema-decay", type=float, default=0.95)
    p.add_argument("--clip", type=float, default=1.0)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return p.parse_args()


class ConvBlock(nn.Module):
    def __init__(self, cin, cout, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.norm = nn.GroupNorm(4, cout)

    def forward(self, x):
        return F.silu(self.norm(self.conv(x)))


class TinyNet(nn.Module):
    def __init__(self, num_classes=4, width=16):
        super().__init__()
        self.stem = ConvBlock(3, width)
        self.body = nn.Sequential(ConvBlock(width, width, 2), ConvBlock(width, 2 * width, 2))
        self.head = nn.Linear(2 * width, num_classes)

    def forward(self, x):
        x = self.body(self.stem(x))
        return self.head(x.mean(dim=(2, 3)))


class ModelEMA:
    """Running average of the trainable weights.

    The average lives in host memory, so that it doesn't take any of the
    accelerator's; `copy_to` writes it into a model for evaluation.
    """

    def __init__(self, model, decay):
        self.decay = decay
        self.num_updates = 0
        self.shadow = {n: p.detach().cpu().clone() for n, p in model.named_parameters()}

    @torch.no_grad()
    def update(self, model):
        self.num_updates += 1
        d = min(self.decay, (1 + self.num_updates) / (10 + self.num_updates))
        for name, p in model.named_parameters():
            self.shadow[name].mul_(d).add_(p.detach().cpu(), alpha=1 - d)

    @torch.no_grad()
    def copy_to(self, model):
        for name, p in model.named_parameters():
            p.copy_(self.shadow[name])


def lr_lambda(total, warmup):
    def f(step):
        if step < warmup:
            return (step + 1) / warmup
        t = (step - warmup) / max(1, total - warmup)
        return 0.5 * (1 + math.cos(math.pi * t))
    return f


def make_data(n, seed, num_classes=4):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(num_classes, (n,), generator=g)
    x = 0.5 * torch.randn(n, 3, 8, 8, generator=g)
    for c in range(num_classes):
        r, q = divmod(c, 2)
        x[y == c, :, 4 * r:4 * r + 4, 4 * q:4 * q + 4] += 0.6
    return TensorDataset(x, y)


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    correct = total = 0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        correct += (model(x).argmax(1) == y).sum().item()
        total += y.numel()
    model.train()
    return correct / total


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    device = torch.device(args.device)

    train_loader = DataLoader(make_data(192, 1), args.batch_size, shuffle=True, drop_last=True)
    val_loader = DataLoader(make_data(96, 2), 48)

    model = TinyNet().to(device)
    ema = ModelEMA(model, args.ema_decay)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.02)
    sched = torch.optim.lr_scheduler.LambdaLR(
        opt, lr_lambda(args.epochs * len(train_loader), args.warmup))
    eval_model = copy.deepcopy(model)

    for epoch in range(args.epochs):
        running = 0.0
        for x, y in train_loader:
            x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
            loss = F.cross_entropy(model(x), y, label_smoothing=0.1)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), args.clip)
            opt.step()
            sched.step()
            ema.update(model)
            running += loss.item()
        ema.copy_to(eval_model)
        print(f"epoch {epoch}  loss {running / len(train_loader):.4f}  "
              f"val {evaluate(model, val_loader, device):.3f}  "
              f"val(ema) {evaluate(eval_model, val_loader, device):.3f}")


if __name__ == "__main__":
    main()
