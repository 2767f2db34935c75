import argparse
import json
import tempfile
from pathlib import Path

import torch
from torch.utils.data import DataLoader, TensorDataset

import checkpoint
import fields
import models


def fit(model, stage, cfg, device, seed):
    coarse, fine = fields.make_pairs(stage, cfg, seed)
    model.target_std.copy_(fine.std(dim=(0, 2, 3)))
    loader = DataLoader(TensorDataset(coarse, fine), batch_size=16, shuffle=True)
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trainable, lr=cfg[stage]["lr"])
    for epoch in range(cfg[stage]["epochs"]):
        total = 0.0
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            loss = (model(x) - y).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"{stage} epoch {epoch}: mse {total / len(loader):.4f}")
    return total / len(loader)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", type=Path, default=Path(__file__).parent / "config.json")
    parser.add_argument("--no-cuda", action="store_true")
    args = parser.parse_args()
    cfg = json.loads(args.config.read_text())
    torch.manual_seed(0)
    cuda = torch.cuda.is_available() and not args.no_cuda
    device = torch.device("cuda" if cuda else "cpu")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "geopotential.pt"
        model = models.build(cfg, "pretrain").to(device)
        score = fit(model, "pretrain", cfg, device, seed=1)
        checkpoint.save(path, model, score=score)

        model = models.build(cfg, "finetune").to(device)
        fresh, meta = checkpoint.warm_start(model, path)
    print(f"warm start from a score of {meta['score']:.4f}; fresh: {', '.join(fresh)}")
    model.stem.requires_grad_(False)
    fit(model, "finetune", cfg, device, seed=2)


if __name__ == "__main__":
    main()
