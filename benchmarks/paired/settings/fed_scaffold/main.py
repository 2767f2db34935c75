import argparse
import logging
import tempfile

import torch

from client import Client
from models import SmallCNN
from partition import dirichlet_split, make_dataset
from server import Server


def parse_args():
    p = argparse.ArgumentParser("SCAFFOLD on a toy problem")
    p.add_argument("--rounds", type=int, default=20)
    p.add_argument("--num-clients", type=int, default=5)
    p.add_argument("--participation", type=float, default=0.6)
    p.add_argument("--local-epochs", type=int, default=1)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--server-lr", type=float, default=1.0)
    p.add_argument("--alpha", type=float, default=0.5)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--no-cuda", action="store_true")
    return p.parse_args()


def main():
    args = parse_args()
    logging.basicConfig(level=logging.INFO, format="%(name)s | %(message)s")
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() and not args.no_cuda else "cpu")

    train, test = make_dataset(200, seed=1), make_dataset(60, seed=2)
    shards = dirichlet_split(train, args.num_clients, args.alpha, seed=args.seed)
    clients = [Client(i, s, args) for i, s in enumerate(shards)]
    server = Server(SmallCNN(), clients, test, args, device)

    with tempfile.TemporaryDirectory() as tmp:
        half = max(1, args.rounds // 2)
        for rnd in range(args.rounds):
            server.run_round(rnd)
            if rnd + 1 == half:
                server.restore(server.save(tmp))
        server.save(tmp)
    best = max(server.history, key=lambda h: h["acc"])
    print("best round {round}: acc {acc:.3f}".format(**best))


if __name__ == "__main__":
    main()
