"""Register pre and post operative slices, coarse to fine, one pair at a time."""
import argparse
import logging

import numpy as np
import torch

from regkit import AffineRegistration, Pyramid, phantom_pair
from regkit.callbacks import EarlyStop, Trace


def landmark_error(theta, pair):
    """Mean distance in pixels of the landmarks after registration."""
    moved = pair.points @ theta[:, :2].T + theta[:, 2]
    return float(np.linalg.norm((moved - pair.target_points) * pair.size / 2, axis=1).mean())


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=2)
    parser.add_argument("--size", type=int, default=32)
    parser.add_argument("--levels", type=int, nargs="+", default=[4, 2, 1])
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--metric", choices=["ncc", "mse"], default="ncc")
    parser.add_argument("--gpu", type=int, default=0)
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args(argv)
    logging.basicConfig(level=logging.DEBUG if args.verbose else logging.INFO, format="%(levelname).1s %(message)s")

    device = torch.device(f"cuda:{args.gpu}") if torch.cuda.is_available() else torch.device("cpu")
    errors = []
    for i in range(args.pairs):
        pair = phantom_pair(args.size, seed=i)
        trace = Trace()
        reg = AffineRegistration(metric=args.metric, steps=args.steps, lr=args.lr,
                                 callbacks=[trace, EarlyStop(patience=10)])
        pyramid = Pyramid(pair.fixed, pair.moving, args.levels)
        with reg.on(device):
            theta = reg.fit(pyramid)
        before = landmark_error(np.eye(3)[:2], pair)
        after = landmark_error(theta.numpy(), pair)
        errors.append((before, after))
        logging.info("pair %d: %d steps, similarity %.4f -> %.4f, landmarks %.2f px -> %.2f px",
                     i, len(trace.losses), trace.losses[0], trace.losses[-1], before, after)
    errors = np.array(errors)
    logging.info("mean landmark error %.2f px -> %.2f px on %s", *errors.mean(0), device)


if __name__ == "__main__":
    main()
