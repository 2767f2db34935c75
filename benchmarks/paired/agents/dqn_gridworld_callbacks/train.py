import argparse
import logging
import os
import random
import tempfile

import numpy as np
import torch

from dqn import DQNAgent, GridWorld, ReplayBuffer
from dqn.callbacks import EvalAndCheckpoint, LossLogger
from dqn.trainer import Trainer


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--episodes", type=int, default=24)
    p.add_argument("--size", type=int, default=5)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return p.parse_args()


def main():
    args = parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)

    env = GridWorld(args.size, seed=args.seed)
    agent = DQNAgent(env.obs_dim, env.n_actions, torch.device(args.device))
    buffer = ReplayBuffer(2000, env.obs_dim)

    with tempfile.TemporaryDirectory() as folder:
        evaluator = EvalAndCheckpoint(GridWorld(args.size, seed=args.seed), folder)
        Trainer(env, agent, buffer, args.batch_size, callbacks=[LossLogger(), evaluator]).fit(args.episodes)

        ckpt = torch.load(os.path.join(folder, "best.pt"))
        agent.q.load_state_dict(ckpt["q"])
    print(f"best evaluation score {ckpt['score']:.3f} after {len(buffer)} transitions")


if __name__ == "__main__":
    main()
