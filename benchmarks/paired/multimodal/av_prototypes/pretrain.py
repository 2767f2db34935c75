import argparse
from dataclasses import dataclass

import torch

from heads import unit_rows
from system import AudioVideoSystem, ClipFactory


@dataclass
class Config:
    steps: int = 30
    batch: int = 32
    dim: int = 24
    prototypes: int = 8
    lr: float = 5e-3
    weight_decay: float = 1e-4

    @classmethod
    def from_cli(cls):
        parser = argparse.ArgumentParser()
        for name, f in cls.__dataclass_fields__.items():
            parser.add_argument("--" + name.replace("_", "-"), type=f.type, default=f.default)
        return cls(**vars(parser.parse_args()))


@torch.no_grad()
def agreement(system, batch, events):
    a, v = system(batch)
    same = (a.argmax(1) == v.argmax(1)).float().mean().item()
    clusters = a.argmax(1).cpu()
    purity = 0
    for c in clusters.unique():
        purity += torch.bincount(events[clusters == c]).max().item()
    return same, purity / len(events)


def main():
    cfg = Config.from_cli()
    torch.manual_seed(0)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    system = AudioVideoSystem(cfg, device)
    optimizer = torch.optim.SGD(system.parameter_groups(cfg), lr=cfg.lr * 10, momentum=0.9)
    factory = ClipFactory()

    for step in range(cfg.steps):
        batch, _ = factory.batch(cfg.batch)
        loss = system.training_step(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step:3d} loss {loss.item():.4f}")

    drift = system.head.prototypes.detach().cpu() - unit_rows(cfg.prototypes, cfg.dim, seed=17)
    print("prototypes moved:", bool(drift.norm() > 1e-3))
    print("optimised tensors:", sum(len(g["params"]) for g in optimizer.param_groups))
    batch, events = factory.batch(64)
    same, purity = agreement(system, batch, events)
    print(f"agreement {same:.2f} purity {purity:.2f}")
    print("used prototypes", int((system.head.usage > 0).sum()))


if __name__ == "__main__":
    main()
