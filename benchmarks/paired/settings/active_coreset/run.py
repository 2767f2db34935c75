import argparse
import logging

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.metrics import f1_score
from torch.utils.data import DataLoader

from config import Config
from network import MLP
from pool import Pool
from strategies import build_strategy

logger = logging.getLogger("active")


def fit(cfg, pool):
    model = MLP(cfg.pool.n_features, cfg.hidden, cfg.pool.n_classes, cfg.dropout).to(cfg.device)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    counts = np.bincount(pool.y[pool.labelled_idx].numpy(), minlength=cfg.pool.n_classes)
    weight = torch.tensor(counts.sum() / np.maximum(counts, 1), dtype=torch.float32, device=cfg.device)
    weight /= weight.mean()
    model.train()
    for _ in range(cfg.epochs):
        for x, y in pool.loader(pool.labelled_idx, cfg.batch_size, shuffle=True):
            loss = F.cross_entropy(model(x.to(cfg.device)), y.to(cfg.device), weight=weight)
            opt.zero_grad()
            loss.backward()
            opt.step()
    return model


@torch.no_grad()
def macro_f1(model, cfg, dataset):
    model.eval()
    y_true, y_pred = [], []
    for x, y in DataLoader(dataset, batch_size=64):
        y_pred += model(x.to(cfg.device)).argmax(-1).tolist()
        y_true += y.tolist()
    return f1_score(y_true, y_pred, average="macro")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--strategy", default="coreset")
    ap.add_argument("--rounds", type=int, default=6)
    ap.add_argument("--device")
    a = ap.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    cfg = Config(strategy=a.strategy, rounds=a.rounds, device=a.device)
    torch.manual_seed(cfg.seed)
    np.random.seed(cfg.seed)

    pool = Pool(cfg.pool, cfg.seed)
    strategy = build_strategy(cfg.strategy, pool=pool, cfg=cfg)
    for r in range(cfg.rounds):
        model = fit(cfg, pool)
        logger.info("round %d  labels %d  f1 %.3f", r, pool.labelled.sum(), macro_f1(model, cfg, pool.test))
        pool.label(strategy.query(model, cfg.budget))
    logger.info("final  labels %d  f1 %.3f", pool.labelled.sum(), macro_f1(fit(cfg, pool), cfg, pool.test))


if __name__ == "__main__":
    main()
