"""prune.py run | sweep: gradual pruning of a small classifier."""
import argparse

import torch

from pruner import CRITERIA, Plan, Pruner, sparsity
from workload import Mlp, accuracy, blobs, train


def one(plan, args):
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() and not args.cpu else "cpu")
    train_data, test_data = blobs(800, 1), blobs(200, 2)
    model = Mlp().to(device)
    train(model, train_data, args.steps, device)
    before = accuracy(model, test_data, device)
    pruner = Pruner(model, plan, args.seed)
    for _ in range(plan.rounds):
        cut = pruner.advance()
        loss = train(model, train_data, args.steps // 2, device, pruner.freeze_zeros)
        if args.verbose:
            print("  ", {k: round(v, 2) for k, v in cut.items()}, f"loss {loss:.3f}")
    after = accuracy(model, test_data, device)
    print(f"{plan.criterion:>13}: accuracy {before:.3f} -> {after:.3f}, "
          f"zeros {sparsity(model):.2f}")


def cmd_run(args):
    one(Plan(args.criterion, args.final, args.rounds), args)


def cmd_sweep(args):
    for name in CRITERIA:
        one(Plan(name, args.final, args.rounds), args)


def main():
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--final", type=float, default=0.8)
    common.add_argument("--rounds", type=int, default=3)
    common.add_argument("--steps", type=int, default=60)
    common.add_argument("--seed", type=int, default=0)
    common.add_argument("--cpu", action="store_true")
    common.add_argument("--verbose", action="store_true")
    ap = argparse.ArgumentParser()
    sub = ap.add_subparsers(required=True)
    run = sub.add_parser("run", parents=[common])
    run.add_argument("--criterion", choices=sorted(CRITERIA), default="magnitude")
    run.set_defaults(func=cmd_run)
    sub.add_parser("sweep", parents=[common]).set_defaults(func=cmd_sweep)
    args = ap.parse_args()
    args.func(args)


if __name__ == "__main__":
    main()
