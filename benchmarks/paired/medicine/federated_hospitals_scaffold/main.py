"""Federated training over hospitals with different scanners (FedAvg / SCAFFOLD)."""
import argparse
import random

import numpy as np
import torch

from fl.client import CLIENTS
from fl.hospitals import build_hospitals, pooled_test_set
from fl.model import build_model
from fl.server import Server


def get_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--algorithm", choices=sorted(CLIENTS), default="scaffold")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--hospitals", type=int, default=3)
    parser.add_argument("--fraction", type=float, default=0.67)
    parser.add_argument("--local-steps", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--device", default=None, help="cpu, cuda, cuda:1 ... (default: what is there)")
    parser.add_argument("--seed", type=int, default=3)
    return parser.parse_args()


def main():
    args = get_args()
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    if args.device is None:
        args.device = "cuda" if torch.cuda.is_available() else "cpu"
    device = torch.device(args.device)

    hospitals = build_hospitals(args.hospitals, seed=args.seed)
    # one model shared by all simulated clients, so that only one copy is on the card
    worker = build_model().to(device)
    client_cls = CLIENTS[args.algorithm]
    clients = [client_cls(name, ds, worker, device, args) for name, ds in hospitals.items()]

    server = Server(build_model(), clients, args)
    for r in range(args.rounds):
        stats = server.round()
        line = " ".join(f"{k}={v:.4f}" for k, v in stats.items())
        print(f"[round {r}] {line}")

    x, y = pooled_test_set(seed=args.seed + 1)
    print("global model: acc={acc:.3f} auc={auc:.3f}".format(**server.evaluate(x, y)))
    for c in clients:
        if c.rounds_seen:
            print(f"{c.name}: {c.rounds_seen} rounds, drift {c.drift():.5f}")


if __name__ == "__main__":
    main()
