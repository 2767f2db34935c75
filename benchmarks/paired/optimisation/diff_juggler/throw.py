"""Find the launch velocity that makes the centre of a soft block end at a target."""
import argparse

import torch

from scenes import REGISTRY
from simulate import Recorder, simulate


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--scene", choices=sorted(REGISTRY), default="block")
    parser.add_argument("--iterations", type=int, default=12)
    parser.add_argument("--target", type=float, nargs=2, default=[1.8, 0.9])
    parser.add_argument("--lr", type=float, default=0.3)
    parser.add_argument("--cpu", action="store_true")
    return parser.parse_args()


def main():
    args = parse()
    device = torch.device("cpu" if args.cpu or not torch.cuda.is_available() else "cuda")
    scene = REGISTRY[args.scene]().to(device)
    target = torch.tensor(args.target, device=device)
    launch = torch.tensor([1.0, 1.0], device=device, requires_grad=True)
    optimizer = torch.optim.Adam([launch], lr=args.lr)
    for i in range(args.iterations):
        recorder = Recorder(every=20)
        x, v = simulate(scene, launch, recorder=recorder)
        loss = (x.mean(0) - target).pow(2).sum() + 1e-3 * v.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % 4 == 3:
            frames = recorder.stack()
            print(f"{scene.name} {i + 1}: loss {loss.item():.4f} launch {launch.tolist()} "
                  f"top {frames[..., 1].max():.2f}")


if __name__ == "__main__":
    main()
