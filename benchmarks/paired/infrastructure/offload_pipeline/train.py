import argparse

import torch
import torch.nn.functional as F

from pipeline import StagedUNet, plan
from signals import noisy_tones


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--stages", type=int, default=2, choices=[1, 2])
    ap.add_argument("--max-gpus", type=int)
    ap.add_argument("--steps", type=int, default=16)
    ap.add_argument("--lr", type=float, default=5e-3)
    args = ap.parse_args()

    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(1)
    placement = plan(args.stages, args.max_gpus)
    print("placement:", placement)
    model = StagedUNet(placement)
    opt = torch.optim.Adam(model.parameter_groups(args.lr, 2 * args.lr), foreach=False)

    for step in range(args.steps):
        noisy, clean = noisy_tones(16, generator=gen)
        pred = model(noisy)
        loss = F.mse_loss(pred, clean.to(placement.last))
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 8 == 0:
            print(f"step {step:3d}  mse {loss.item():.4f}")

    model.eval()
    with torch.no_grad():
        noisy, clean = noisy_tones(64, generator=gen)
        out = model(noisy).cpu()
    print(f"mse noisy {F.mse_loss(noisy, clean):.4f}  denoised {F.mse_loss(out, clean):.4f}")


if __name__ == "__main__":
    main()
