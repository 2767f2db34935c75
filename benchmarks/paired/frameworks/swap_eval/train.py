import argparse

import torch
import yaml

from task import SurfaceTrainer, loaders

DEFAULTS = """
seed: 0
epochs: 5
swa_start: 2
lr: 0.02
batch: 64
bands: 3
width: 32
"""


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", help="a YAML file whose keys replace the defaults")
    ap.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE")
    ap.add_argument("--cpu", action="store_true")
    args = ap.parse_args()

    cfg = yaml.safe_load(DEFAULTS)
    if args.config:
        with open(args.config) as f:
            cfg.update(yaml.safe_load(f))
    for item in args.set:
        key, value = item.split("=", 1)
        cfg[key] = yaml.safe_load(value)

    use_gpu = torch.cuda.is_available() and not args.cpu
    torch.manual_seed(cfg["seed"])
    trainer = SurfaceTrainer(cfg, torch.device("cuda:0" if use_gpu else "cpu"))
    report = trainer.fit(*loaders(cfg), cfg["epochs"])
    print("final", {k: round(v, 3) for k, v in report.items()})


if __name__ == "__main__":
    main()
