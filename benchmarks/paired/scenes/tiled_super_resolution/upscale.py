import argparse
import math
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from sr.data import PatchStream, degrade, picture
from sr.nets import ESPCN
from sr.tiling import TiledUpscaler


def charbonnier(a, b, eps=1e-3):
    return torch.sqrt((a - b) ** 2 + eps ** 2).mean()


def psnr(a, b):
    return -10 * math.log10(float(np.mean((a.numpy() - b.numpy()) ** 2)) + 1e-12)


@contextmanager
def inference(net):
    mode = net.training
    net.eval()
    try:
        yield net
    finally:
        net.train(mode)


def train(net, loader, epochs, lr, device):
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    for epoch in range(epochs):
        running = 0.0
        for k, (lr_img, hr_img) in enumerate(loader, 1):
            lr_img, hr_img = lr_img.to(device), hr_img.to(device)
            loss = charbonnier(net(lr_img), hr_img)
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item()
        print(f"epoch {epoch + 1}/{epochs}  charbonnier {running / k:.4f}")


def main():
    ap = argparse.ArgumentParser(description="Train a small ESPCN and upscale a picture tile by tile")
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--scale", type=int, default=2)
    ap.add_argument("--tile", type=int, default=16)
    ap.add_argument("--overlap", type=int, default=4)
    ap.add_argument("--gpu", type=int, default=0, help="negative for the host")
    opt = ap.parse_args()

    use_gpu = opt.gpu >= 0 and torch.cuda.is_available()
    device = torch.device(f"cuda:{opt.gpu}" if use_gpu else "cpu")
    torch.manual_seed(0)
    net = ESPCN(opt.scale).to(device)
    train(net, DataLoader(PatchStream(96, scale=opt.scale), batch_size=16), opt.epochs, 2e-3, device)

    hr = picture(np.random.default_rng(9), 96, 80)
    small = degrade(hr, opt.scale)
    with inference(net):
        out = TiledUpscaler(net, opt.tile, opt.overlap)(small)
    bicubic = F.interpolate(small[None], scale_factor=opt.scale, mode="bicubic", align_corners=False)[0].clamp(0, 1)
    print(f"bicubic {psnr(bicubic, hr):.2f} dB, network {psnr(out, hr):.2f} dB")

    with tempfile.TemporaryDirectory() as tmp:
        target = Path(tmp) / "out.npy"
        np.save(target, (out[0].numpy() * 255).round().astype(np.uint8))
        print("wrote", target.name, np.load(target).shape)


if __name__ == "__main__":
    main()
