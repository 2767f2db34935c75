import argparse
import random
import tempfile

import torch
import torch.nn as nn
from torch.utils.data import DataLoader

from fed.client import Client
from fed.partition import client_loaders, synthetic
from fed.server import Server


def get_device(name="auto"):
    if name != "auto":
        return torch.device(name)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def main():
    ap = argparse.ArgumentParser(description="federated averaging with label skew")
    ap.add_argument("--rounds", type=int, default=5)
    ap.add_argument("--clients", type=int, default=6)
    ap.add_argument("--fraction", type=float, default=0.5)
    ap.add_argument("--local-epochs", type=int, default=1)
    ap.add_argument("--alpha", type=float, default=0.5)
    ap.add_argument("--lr", type=float, default=0.1)
    ap.add_argument("--device", default="auto")
    args = ap.parse_args()

    torch.manual_seed(3)
    random.seed(3)
    device = get_device(args.device)
    loaders = client_loaders(synthetic(300), args.clients, args.alpha, batch_size=16)
    clients = [Client(i, dl, args.lr, args.local_epochs) for i, dl in enumerate(loaders)]
    test = DataLoader(synthetic(120, seed=1), batch_size=60)

    server = Server(nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 4)), device)
    print("start acc %.3f" % server.evaluate(test))
    for rnd in range(args.rounds):
        chosen = random.sample(clients, max(1, int(args.fraction * len(clients))))
        updates = [(c.num_samples, c.run(server.model, device)) for c in chosen]
        norm = server.step(updates)
        print("round %d clients %s step %.3f acc %.3f"
              % (rnd, [c.cid for c in chosen], norm, server.evaluate(test)))
    torch.save({k: v.cpu() for k, v in server.model.state_dict().items()}, tempfile.mktemp(suffix=".pt"))


if __name__ == "__main__":
    main()
