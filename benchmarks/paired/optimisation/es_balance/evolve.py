import argparse
from pathlib import Path

import torch
import yaml

from policy import Layout
from strategy import EvolutionStrategy


def read(path, overrides):
    config = yaml.safe_load(Path(path).read_text())
    for item in overrides:
        key, value = item.split("=", 1)
        config[key] = yaml.safe_load(value)
    return config


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default=Path(__file__).with_name("es.yaml"))
    parser.add_argument("overrides", nargs="*", help="key=value")
    args = parser.parse_args()
    config = read(args.config, args.overrides)

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    strategy = EvolutionStrategy(
        Layout(config["hidden"]), config["population"], config["sigma"],
        config["optimizer"], device, config["seed"])
    for generation in range(config["generations"]):
        epsilon, candidates = strategy.ask()
        fitness = strategy.evaluate(candidates, config["horizon"])
        moved = strategy.tell(epsilon, fitness)
        if generation % 5 == 4:
            centre = strategy.evaluate(strategy.centre.unsqueeze(0), config["horizon"], episodes=16)
            print(f"generation {generation + 1} population {fitness.mean().item():.3f} "
                  f"best {fitness.max().item():.3f} centre {centre.item():.3f} moved {moved:.3f}")


if __name__ == "__main__":
    main()
