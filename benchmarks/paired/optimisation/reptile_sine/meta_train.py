import argparse

import torch

from adaptation import Snapshot, inner_loop
from evaluation import EarlyStop, Probe
from model import regressor
from tasks import stream


def main():
    parser = argparse.ArgumentParser(description="Reptile on sine regression")
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--probe-every", type=int, default=50)
    parser.add_argument("--inner-steps", type=int, default=5)
    parser.add_argument("--inner-lr", type=float, default=0.02)
    parser.add_argument("--outer-lr", type=float, default=0.3)
    parser.add_argument("--shots", type=int, default=10)
    parser.add_argument("--patience", type=int, default=10)
    args = parser.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = regressor().to(device)
    probe, stop = Probe(seed=99), EarlyStop(args.patience)
    tasks = stream(seed=1)
    average = None
    for iteration in range(1, args.iterations + 1):
        task = next(tasks)
        origin = Snapshot(model)
        batches = [task.draw(args.shots) for _ in range(args.inner_steps)]
        loss = inner_loop(model, batches, args.inner_lr)
        origin.pull(model, args.outer_lr * (1 - iteration / args.iterations))
        average = loss if average is None else 0.95 * average + 0.05 * loss
        if iteration % args.probe_every == 0:
            error = probe(model, device)
            print(f"iteration {iteration} inner loss {average:.3f} probe {error:.3f}")
            if stop(error):
                break


if __name__ == "__main__":
    main()
