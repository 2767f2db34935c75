import argparse
import logging

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

from recsys.factorization import LOSSES, BiasedMF
from recsys.interactions import synthetic
from recsys.negatives import PopularityNegatives, UniformNegatives
from recsys.ranking import leave_one_out

log = logging.getLogger("recsys")

DEFAULTS = {
    "dim": 16,
    "lr": 0.05,
    "batch_size": 128,
    "n_neg": 4,
    "reg": 1e-3,
    "patience": 3,
}


def build_negatives(kind, data, n_neg, device, seed):
    if kind == "uniform":
        return UniformNegatives(data.n_items, n_neg, device, seed)
    return PopularityNegatives(data.popularity(), n_neg, device, seed)


def train(cfg, data, device, loss_name, neg_kind, epochs, seed):
    torch.manual_seed(seed)
    users, items = data.pairs()
    loader = DataLoader(
        TensorDataset(torch.from_numpy(users), torch.from_numpy(items)),
        batch_size=cfg["batch_size"], shuffle=True,
        generator=torch.Generator().manual_seed(seed),
    )
    model = BiasedMF(data.n_users, data.n_items, cfg["dim"]).to(device)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=cfg["lr"])
    negatives = build_negatives(neg_kind, data, cfg["n_neg"], device, seed)
    loss_fn = LOSSES[loss_name]

    best, bad_epochs = {"ndcg": -1.0}, 0
    for epoch in range(epochs):
        for u, i in loader:
            u, i = u.to(device), i.to(device).unsqueeze(1)
            j = negatives(u)
            loss = loss_fn(model.score(u, i), model.score(u, j))
            loss = loss + cfg["reg"] * model.regulariser(u, i)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        metrics = leave_one_out(*model.export(), data)
        log.info("%s/%s epoch %d %s", loss_name, neg_kind, epoch,
                 " ".join(f"{k}={v:.4f}" for k, v in metrics.items()))
        if metrics["ndcg"] > best["ndcg"]:
            best, bad_epochs = metrics, 0
        else:
            bad_epochs += 1
            if bad_epochs >= cfg["patience"]:
                break
    return best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--loss", choices=sorted(LOSSES), default="bpr")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--cpu", action="store_true")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")

    device = "cpu" if args.cpu or not torch.cuda.is_available() else "cuda"
    data = synthetic(seed=args.seed)
    results = {}
    for kind in ("uniform", "popularity"):
        results[kind] = train(DEFAULTS, data, device, args.loss, kind, args.epochs, args.seed)
    winner = max(results, key=lambda k: results[k]["ndcg"])
    print(f"best negatives: {winner} (ndcg {results[winner]['ndcg']:.4f}, "
          f"mean {np.mean([r['ndcg'] for r in results.values()]):.4f})")


if __name__ == "__main__":
    main()
