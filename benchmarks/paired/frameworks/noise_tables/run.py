"""python run.py CONFIG...: trains one toy diffusion for each configuration."""
import argparse
import json
import time
from pathlib import Path

import torch

from diffusion import Denoiser, Diffusion
from schedules import NoiseTables

DEFAULT = Path(__file__).with_name("sweep.json")


def ring(n, generator):
    angle = torch.rand(n, generator=generator) * 2 * torch.pi
    radius = 1.5 + 0.1 * torch.randn(n, generator=generator)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1)


def describe(tables):
    snr = (tables.signal / tables.sigma).square().log10()
    return f"{tables.kind}: log10 snr {snr[0].item():.2f} .. {snr[-1].item():.2f}"


def run(cfg, device):
    torch.manual_seed(cfg["seed"])
    host = torch.Generator().manual_seed(cfg["seed"])
    tables = NoiseTables.named(cfg["schedule"], cfg["steps"], **cfg.get("options", {}))
    print(describe(tables))
    model = Diffusion(Denoiser(2, cfg["width"], cfg["steps"]), tables).to(device)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg["lr"])
    began = time.perf_counter()
    recent = []
    for _ in range(cfg["iterations"]):
        loss = model.loss(ring(cfg["batch"], host).to(device))
        opt.zero_grad()
        loss.backward()
        opt.step()
        recent = (recent + [loss.detach()])[-20:]
    x = model.sample(64, 2, tables.plan(cfg["sample_steps"])).cpu()
    return {"loss": round(torch.stack(recent).mean().item(), 4),
            "radius": round(x.norm(dim=1).mean().item(), 3),
            "seconds": round(time.perf_counter() - began, 1)}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("configs", nargs="*", type=Path, default=[DEFAULT])
    ap.add_argument("--only", help="run just the entry of this name")
    args = ap.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    for path in args.configs:
        content = json.loads(path.read_text())
        for name, change in content["runs"].items():
            if args.only in (None, name):
                print(name, run({**content["base"], **change}, device))


if __name__ == "__main__":
    main()
