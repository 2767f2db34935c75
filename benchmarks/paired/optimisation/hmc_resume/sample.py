"""Warm up once, keep the state in a file, then sample in pieces that continue from it."""
import argparse
import tempfile
from pathlib import Path

import torch

from posterior import make_log_density, synthetic
from sampler import HMC


def build(args, device):
    data = [t.to(device) for t in synthetic(seed=args.seed)]
    log_density, dim = make_log_density(*data)
    return HMC(log_density, dim, args.chains, device, seed=args.seed + 1)


def save(sampler, path):
    part = path.with_suffix(".part")
    torch.save(sampler.state_dict(), part)
    part.replace(path)


def resume(sampler, path):
    state = torch.load(path, map_location="cpu", weights_only=True)
    sampler.load_state_dict(state)
    return sampler


def split_rhat(draws):
    half = draws.shape[0] // 2
    parts = torch.cat([draws[:half], draws[half:2 * half]], dim=1)
    within = parts.var(0).mean(0)
    between = parts.mean(0).var(0)
    return ((within * (half - 1) / half + between) / within).sqrt()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--chains", type=int, default=8)
    parser.add_argument("--warmup", type=int, default=60)
    parser.add_argument("--pieces", type=int, default=2)
    parser.add_argument("--draws", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chains.pt"
        sampler = build(args, device)
        sampler.warm_up(args.warmup)
        save(sampler, path)
        draws = []
        for _ in range(args.pieces):
            sampler = resume(build(args, device), path)
            draws.append(sampler.draw(args.draws))
            save(sampler, path)
            print(f"iteration {sampler.iteration} step size {sampler.step_size.final():.3f}")
    draws = torch.cat(draws)
    print("mean", [round(v, 2) for v in draws.mean((0, 1)).tolist()])
    print("worst rhat", round(split_rhat(draws).max().item(), 3))


if __name__ == "__main__":
    main()
