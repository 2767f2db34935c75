"""
Gatys-style transfer with a small self-trained feature network.

    python style_transfer.py --steps 12 --optim lbfgs --init noise
"""
import argparse
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

MEAN = [0.485, 0.456, 0.406]
STD = [0.229, 0.224, 0.225]


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--size", type=int, default=32)
    parser.add_argument("--init", choices=["noise", "content"], default="noise")
    parser.add_argument("--optim", choices=["adam", "lbfgs"], default="adam")
    parser.add_argument("--style-weight", type=float, default=200.0)
    parser.add_argument("--tv-weight", type=float, default=1e-3)
    parser.add_argument("--no-cuda", action="store_true", default=False)
    parser.add_argument("--snapshot-every", type=int, default=4)
    return parser.parse_args()


def content_picture(size):
    yy, xx = np.mgrid[:size, :size] / size
    img = np.stack([xx, yy, 1 - xx])
    img[:, (yy - 0.5) ** 2 + (xx - 0.5) ** 2 < 0.08] = 0.9
    return torch.from_numpy(img).float()[None]


def style_picture(size):
    yy, xx = np.mgrid[:size, :size]
    stripes = ((xx + yy) // 4 % 2).astype(np.float32)
    return torch.from_numpy(np.stack([stripes, 0.2 + 0 * stripes, 1 - stripes]))[None]


class Normalization(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", torch.tensor(mean).view(-1, 1, 1))
        self.register_buffer("std", torch.tensor(std).view(-1, 1, 1))

    def forward(self, img):
        return (img - self.mean) / self.std


class FeatureNet(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.norm = Normalization(MEAN, STD)
        self.blocks = nn.ModuleList([
            nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.ReLU()),
            nn.Sequential(nn.AvgPool2d(2), nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU()),
            nn.Sequential(nn.AvgPool2d(2), nn.Conv2d(2 * width, 2 * width, 3, padding=1), nn.ReLU()),
        ])

    def forward(self, x):
        x, feats = self.norm(x), []
        for block in self.blocks:
            x = block(x)
            feats.append(x)
        return feats


def pretrain(net, device, rounds=4):
    """Rotation prediction on random crops: enough to make the filters oriented."""
    head = nn.Linear(24, 4).to(device)
    opt = torch.optim.Adam(list(net.parameters()) + list(head.parameters()), lr=3e-3)
    base = torch.cat([content_picture(32), style_picture(32)])
    for _ in range(rounds):
        k = torch.randint(0, 4, (16,))
        x = torch.stack([torch.rot90(base[i % 2], int(r), (1, 2)) for i, r in enumerate(k)])
        x = (x + 0.1 * torch.randn_like(x)).to(device)
        loss = F.cross_entropy(head(net(x)[-1].mean((2, 3))), k.to(device))
        opt.zero_grad()
        loss.backward()
        opt.step()
    for p in net.parameters():
        p.requires_grad_(False)
    return net.eval()


def gram(x):
    b, c, h, w = x.shape
    f = x.reshape(b, c, h * w)
    return f @ f.transpose(1, 2) / (c * h * w)


def tv(img):
    return (img[..., 1:, :] - img[..., :-1, :]).abs().mean() + (img[..., 1:] - img[..., :-1]).abs().mean()


class Snapshots:
    def __init__(self, folder, every):
        self.folder, self.every, self.frames = folder, every, []

    def maybe(self, step, img):
        if step % self.every == 0:
            frame = img.detach().clamp(0, 1).cpu().numpy()[0]
            path = os.path.join(self.folder, "step_%03d.npy" % step)
            np.save(path, (frame * 255).astype(np.uint8))
            self.frames.append(path)

    def drift(self):
        first, last = np.load(self.frames[0]), np.load(self.frames[-1])
        return float(np.abs(first.astype(int) - last.astype(int)).mean())


def start_image(args, content, device):
    if args.init == "content":
        img = content.clone()
    else:
        img = 0.5 * content + 0.5 * torch.rand(content.shape)
    return img.to(device).requires_grad_(True)


def make_optimizer(args, img):
    if args.optim == "lbfgs":
        return torch.optim.LBFGS([img], max_iter=1, history_size=5)
    return torch.optim.Adam([img], lr=0.03)


def main():
    args = parse_args()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() and not args.no_cuda else "cpu")
    net = pretrain(FeatureNet().to(device), device)

    content, style = content_picture(args.size), style_picture(args.size)
    with torch.no_grad():
        content_target = net(content.to(device))[-1]
        style_targets = [gram(f) for f in net(style.to(device))]

    img = start_image(args, content, device)
    opt = make_optimizer(args, img)
    history = []

    with tempfile.TemporaryDirectory() as folder:
        snaps = Snapshots(folder, args.snapshot_every)
        snaps.maybe(0, img)
        for step in range(1, args.steps + 1):

            def closure():
                opt.zero_grad()
                feats = net(img)
                c = F.mse_loss(feats[-1], content_target)
                s = sum(F.mse_loss(gram(f), t) for f, t in zip(feats, style_targets))
                loss = c + args.style_weight * s + args.tv_weight * tv(img)
                loss.backward()
                history.append((c.item(), s.item(), loss.item()))
                return loss

            opt.step(closure)
            with torch.no_grad():
                img.clamp_(0, 1)
            snaps.maybe(step, img)
        c, s, total = np.array(history).T
        print("content %.4f -> %.4f  style %.5f -> %.5f" % (c[0], c[-1], s[0], s[-1]))
        print("total %.4f -> %.4f, picture moved by %.1f levels" % (total[0], total[-1], snaps.drift()))


if __name__ == "__main__":
    main()
