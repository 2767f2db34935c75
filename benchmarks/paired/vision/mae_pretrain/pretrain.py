"""MAE pre-training on synthetic images."""
import argparse
import math

import torch

from mae import MaskedAutoencoder
from mae.masking import RandomMasking


def build_argparser():
    p = argparse.ArgumentParser("MAE pre-training")
    p.add_argument("--batch_size", default=16, type=int)
    p.add_argument("--steps", default=8, type=int)
    p.add_argument("--warmup_steps", default=2, type=int)
    p.add_argument("--mask_ratio", default=0.75, type=float)
    p.add_argument("--lr", default=3e-3, type=float)
    p.add_argument("--seed", default=0, type=int)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return p


def adjust_learning_rate(optimizer, step, args):
    if step < args.warmup_steps:
        lr = args.lr * (step + 1) / args.warmup_steps
    else:
        t = (step - args.warmup_steps) / max(1, args.steps - args.warmup_steps)
        lr = args.lr * 0.5 * (1 + math.cos(math.pi * t))
    for group in optimizer.param_groups:
        group["lr"] = lr
    return lr


def textures(n, size, generator):
    freq = 1 + 4 * torch.rand(n, 3, 1, 1, generator=generator)
    phase = 6.28 * torch.rand(n, 3, 1, 1, generator=generator)
    axis = torch.linspace(0, 3.14, size)
    return torch.sin(freq * axis.view(1, 1, -1, 1) + phase) * torch.cos(freq * axis.view(1, 1, 1, -1))


def main(args):
    torch.manual_seed(args.seed)
    data_rng = torch.Generator().manual_seed(args.seed)
    masking = RandomMasking(args.mask_ratio, seed=args.seed, device=args.device)
    model = MaskedAutoencoder(masking).to(args.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.95))

    model.train()
    for step in range(args.steps):
        lr = adjust_learning_rate(optimizer, step, args)
        imgs = textures(args.batch_size, 24, data_rng).to(args.device, non_blocking=True)
        loss, _, mask = model(imgs)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} lr {lr:.5f} loss {loss.item():.4f} masked {mask.mean().item():.2f}")


if __name__ == "__main__":
    main(build_argparser().parse_args())
