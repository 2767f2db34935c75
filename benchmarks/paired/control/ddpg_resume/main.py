"""Trains for a while, writes a checkpoint and goes on from it, as the nightly job does."""
import os
import random
import tempfile

import numpy as np
import torch

from settings import Settings
from trainer import Trainer


def pick_device():
    return torch.device("cuda", torch.cuda.current_device()) if torch.cuda.is_available() else torch.device("cpu")


def main():
    cfg = Settings()
    random.seed(cfg.seed)
    np.random.seed(cfg.seed)
    torch.manual_seed(cfg.seed)
    device = pick_device()

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ddpg.pt")
        first = Trainer(cfg).to(device)
        print("step %4d reward %.3f critic loss %.4f" % ((cfg.steps,) + first.fit(cfg.steps)))
        first.save(path)

        second = Trainer(cfg).to(device).load(path)
        second.memory = first.memory
        print("resumed at step", second.step)
        reward, loss = second.fit(cfg.steps)
        print("step %4d reward %.3f critic loss %.4f" % (second.step, reward, loss))


if __name__ == "__main__":
    main()
