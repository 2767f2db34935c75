import argparse
from collections import defaultdict
from dataclasses import fields

import torch
from torch.utils.data import DataLoader

from rm.config import RewardConfig
from rm.model import RewardModel
from rm.pairs import AttributePairs, collate
from rm.registry import LOSSES


def pick(rewards, attribute):
    """The reward of the attribute that each row was judged by."""
    return torch.stack([rewards[name][i] for i, name in enumerate(attribute)])


def forward_pair(model, batch, cfg):
    out = []
    for side in ("chosen", "rejected"):
        with torch.autocast("cuda", dtype=torch.float16, enabled=cfg.use_amp):
            rewards = model(batch[side].to(cfg.device), batch["lengths"])
        out.append(rewards)
    return out


def train(model, loader, cfg):
    loss_fn = LOSSES[cfg.loss]
    decay = [p for p in model.parameters() if p.dim() > 1]
    rest = [p for p in model.parameters() if p.dim() <= 1]
    optimizer = torch.optim.AdamW([{"params": decay}, {"params": rest, "weight_decay": 0.0}], lr=cfg.lr)
    scaler = torch.amp.GradScaler("cuda", enabled=cfg.use_amp)
    for epoch in range(cfg.epochs):
        model.train()
        running = 0.0
        for batch in loader:
            chosen, rejected = forward_pair(model, batch, cfg)
            margin = batch["margin"].to(cfg.device)
            loss = loss_fn(pick(chosen, batch["attribute"]), pick(rejected, batch["attribute"]), margin)
            optimizer.zero_grad(set_to_none=True)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            running += loss.item()
        print(f"epoch {epoch} loss {running / len(loader):.4f} scale {scaler.get_scale():.0f}")


@torch.no_grad()
def evaluate(model, loader, cfg):
    model.eval()
    right, seen, combined = defaultdict(int), defaultdict(int), []
    for batch in loader:
        chosen, rejected = forward_pair(model, batch, cfg)
        wins = (pick(chosen, batch["attribute"]) > pick(rejected, batch["attribute"])).cpu()
        for name, win in zip(batch["attribute"], wins.tolist()):
            right[name] += win
            seen[name] += 1
        combined.append(model.combine(chosen).float().cpu())
    combined = torch.cat(combined)
    return {n: right[n] / seen[n] for n in seen}, combined.mean().item(), combined.std().item()


def main():
    parser = argparse.ArgumentParser()
    for f in fields(RewardConfig):
        if f.type in (int, float, str):
            parser.add_argument("--" + f.name.replace("_", "-"), type=f.type, default=f.default)
    cfg = RewardConfig(**vars(parser.parse_args()))
    torch.manual_seed(0)
    train_set, val_set = AttributePairs(cfg, 48, seed=0), AttributePairs(cfg, 24, seed=1)
    model = RewardModel(cfg).to(cfg.device)
    print(f"{sum(p.numel() for p in model.parameters())} parameters on {cfg.device}")
    train(model, DataLoader(train_set, cfg.batch_size, shuffle=True, collate_fn=collate), cfg)
    accuracy, mean, std = evaluate(model, DataLoader(val_set, cfg.batch_size, collate_fn=collate), cfg)
    print({k: round(v, 3) for k, v in accuracy.items()}, f"reward {mean:.3f} +- {std:.3f}")


if __name__ == "__main__":
    main()
