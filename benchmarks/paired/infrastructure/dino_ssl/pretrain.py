import numpy as np
import torch
from torch.utils.data import DataLoader

from ssl_train.learner import Learner


def clusters(n, k=5, dim=16, seed=0):
    rng = np.random.default_rng(seed)
    centers = np.random.default_rng(77).normal(size=(k, dim)) * 2
    y = rng.integers(0, k, n)
    return (centers[y] + rng.normal(size=(n, dim))).astype(np.float32), y


def centroid_accuracy(z, y, zt, yt):
    cents = np.stack([z[y == c].mean(0) for c in np.unique(y)])
    d = ((zt[:, None] - cents[None]) ** 2).sum(-1)
    return (d.argmin(1) == yt).mean()


def main(epochs=2, batch_size=32):
    torch.manual_seed(0)
    x, y = clusters(192, seed=1)
    xt, yt = clusters(64, seed=2)
    loader = DataLoader(torch.from_numpy(x), batch_size, shuffle=True, drop_last=True)
    learner = Learner(total_steps=epochs * len(loader), gpu=0 if torch.cuda.is_available() else None)
    for epoch in range(epochs):
        losses = [learner.train_step(batch) for batch in loader]
        z, zt = learner.embed(torch.from_numpy(x)), learner.embed(torch.from_numpy(xt))
        print("epoch %d  loss %.4f  momentum %.4f  centroid acc %.3f"
              % (epoch, np.mean(losses), learner.momentum(), centroid_accuracy(z, y, zt, yt)))


if __name__ == "__main__":
    main()
