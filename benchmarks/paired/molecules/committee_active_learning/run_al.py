import argparse
import json
import logging
import os
import tempfile

import numpy as np
import torch
from scipy.stats import spearmanr

from acquisition import STRATEGIES, Scorer
from committee import Committee
from fingerprints import oracle, random_molecules
from pool import Pool

LOG = logging.getLogger("al")


def get_device(requested):
    if requested == "gpu" and not torch.cuda.is_available():
        LOG.warning("no GPU found, running on the CPU")
        requested = "cpu"
    if requested == "auto":
        requested = "gpu" if torch.cuda.is_available() else "cpu"
    return torch.device("cuda" if requested == "gpu" else "cpu")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--query", type=int, default=12)
    ap.add_argument("--members", type=int, default=3)
    ap.add_argument("--bits", type=int, default=64)
    ap.add_argument("--steps", type=int, default=40)
    ap.add_argument("--strategy", choices=sorted(STRATEGIES), default="expected_improvement")
    ap.add_argument("--device", choices=["auto", "cpu", "gpu"], default="auto")
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(levelname).1s %(message)s")

    rng = np.random.default_rng(args.seed)
    torch.manual_seed(args.seed)
    device = get_device(args.device)

    pool = Pool(random_molecules(160, rng), args.bits, rng)
    test = Pool(random_molecules(60, rng), args.bits, rng)
    truth = np.array([oracle(m, rng) for m in test.molecules])
    pool.ask(torch.randperm(len(pool.y))[: args.query])

    committee = Committee(args.members, args.bits, device)
    scorer = Scorer(committee, pool, args.strategy)
    history = []
    for r in range(args.rounds):
        losses = committee.fit(*pool.training_set(), steps=args.steps)
        pred = committee.predict(test.x).mean(0).cpu().numpy()
        history.append(
            {
                "labelled": int(pool.labelled.sum()),
                "loss": float(np.mean(losses)),
                "spearman": float(spearmanr(pred, truth)[0]),
                "best": float(pool.y[pool.labelled].max()),
            }
        )
        LOG.info("round %d %s", r, json.dumps({k: round(v, 3) for k, v in history[-1].items()}))
        pool.ask(scorer.propose(args.query))

    with tempfile.TemporaryDirectory() as d:
        torch.save([m.state_dict() for m in committee.members], os.path.join(d, "committee.pt"))
        with open(os.path.join(d, "history.json"), "w") as f:
            json.dump(history, f)


if __name__ == "__main__":
    main()
