import argparse
import random

import numpy as np
import torch
from torch.utils.data import Subset, TensorDataset

from fed import Client, Server
from fed.partition import dirichlet_split
from models import cnn


def synthetic_digits(n: int, classes: int, seed: int):
    rng = np.random.default_rng(seed)
    glyphs = np.random.default_rng(0).random((classes, 1, 8, 8)) > 0.5
    y = rng.integers(0, classes, n)
    x = glyphs[y] + 0.4 * rng.standard_normal((n, 1, 8, 8))
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--clients", type=int, default=6)
    ap.add_argument("--fraction", type=float, default=0.5)
    ap.add_argument("--rounds", type=int, default=4)
    ap.add_argument("--alpha", type=float, default=0.5)
    ap.add_argument("--mu", type=float, default=0.1)
    ap.add_argument("--classes", type=int, default=5)
    args = ap.parse_args()
    random.seed(0)
    torch.manual_seed(0)

    device = torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")
    x, y = synthetic_digits(360, args.classes, 1)
    x_test, y_test = synthetic_digits(120, args.classes, 2)
    parts = dirichlet_split(y.numpy(), args.clients, args.alpha, np.random.default_rng(3))
    print("samples per client", [len(p) for p in parts])

    model = cnn(args.classes)
    full = TensorDataset(x, y)
    clients = [
        Client(i, Subset(full, p.tolist()), model, device, mu=args.mu, local_epochs=2)
        for i, p in enumerate(parts) if len(p) > 1
    ]
    server = Server(model, clients, args.fraction, device)
    for r in range(args.rounds):
        loss = server.round()
        print(f"round {r}: client loss {loss:.3f}, test accuracy {server.evaluate(x_test, y_test):.3f}")
