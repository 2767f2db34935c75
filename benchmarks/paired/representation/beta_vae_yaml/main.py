import argparse
from pathlib import Path

import torch
import yaml

from vae.data import make_loaders
from vae.trainer import Trainer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-c", "--config", default=str(Path(__file__).with_name("config.yaml")))
    args = parser.parse_args()
    with open(args.config) as f:
        cfg = yaml.safe_load(f)
    torch.manual_seed(cfg["seed"])

    train_loader, val_loader, pixel_freq = make_loaders(cfg["data"])
    trainer = Trainer(cfg, train_loader, val_loader, pixel_freq)
    model = trainer.fit()

    samples = model.sample(8).cpu().numpy()
    print("samples: mean on-rate", samples.mean().round(3))
    x = next(iter(val_loader)).to(trainer.device)
    for dim in range(cfg["model"]["latent_dim"]):
        spread = model.traverse(x, dim).std(0).mean().item()
        print(f"latent {dim}: spread {spread:.4f}")


if __name__ == "__main__":
    main()
