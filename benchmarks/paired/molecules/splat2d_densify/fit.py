import argparse
import json
import os
import tempfile

import torch

from rasterizer import Rasterizer
from scene import GaussianModel2D, make_target, psnr

DEFAULTS = {
    "size": 20,
    "points": 40,
    "iterations": 30,
    "densify_from": 8,
    "densify_every": 10,
    "grad_threshold": 2e-4,
    "min_opacity": 0.05,
    "lr": {"xy": 2e-3, "scaling": 2e-2, "opacity": 5e-2, "rgb": 5e-2},
    "seed": 0,
}


def train(cfg, device, out_dir):
    torch.manual_seed(cfg["seed"])
    target = make_target(cfg["size"], cfg["seed"])
    gt = target.to(device)

    g = GaussianModel2D(device)
    g.create_random(cfg["points"])
    g.training_setup(cfg)
    render = Rasterizer(cfg["size"], device)

    best, best_loss = None, float("inf")
    for it in range(1, cfg["iterations"] + 1):
        image = render(g)
        loss = 0.8 * (image - gt).abs().mean() + 0.2 * (image - gt).pow(2).mean()
        loss.backward()
        with torch.no_grad():
            g.add_densification_stats()
            if loss.item() < best_loss:
                best, best_loss = g.capture(), loss.item()
            g.optimizer.step()
            g.optimizer.zero_grad(set_to_none=True)
            if it >= cfg["densify_from"] and it % cfg["densify_every"] == 0:
                n0, n1, n2 = g.densify_and_prune(cfg["grad_threshold"], cfg["min_opacity"])
                print(f"it {it}: {n0} -> {n1} gaussians, {n2} after pruning")
        if it % 10 == 0:
            print(f"it {it}: loss {loss.item():.4f}")

    torch.save(best, os.path.join(out_dir, "gaussians.pt"))
    g.restore(torch.load(os.path.join(out_dir, "gaussians.pt")))
    with torch.no_grad():
        image = render(g).cpu()
    return {"psnr": psnr(image, target), "num": g.num}


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", default=None, help="json with overrides")
    ap.add_argument("--iterations", type=int)
    ap.add_argument("--cpu", action="store_true")
    args = ap.parse_args()
    cfg = dict(DEFAULTS)
    if args.config:
        cfg.update(json.load(open(args.config)))
    if args.iterations:
        cfg["iterations"] = args.iterations
    device = torch.device("cuda" if torch.cuda.is_available() and not args.cpu else "cpu")
    with tempfile.TemporaryDirectory() as tmp:
        print(train(cfg, device, tmp))
