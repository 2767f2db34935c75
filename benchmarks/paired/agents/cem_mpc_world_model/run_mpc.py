import argparse
import logging
from pathlib import Path

import numpy as np
import torch
import yaml
from torch.utils.data import BatchSampler, RandomSampler

from mbrl import CEMPlanner, EnsembleDynamics
from mbrl.dynamics import WorldModel
from pendulum import Pendulum, reward

logging.basicConfig(level=logging.INFO, format="%(levelname).1s %(message)s")
log = logging.getLogger("mpc")

DEFAULT_CONFIG = """
device: auto
episodes: 2
warmup_episodes: 3
members: 3
hidden: 32
fit_epochs: 10
batch_size: 32
lr: 0.003
planner:
  horizon: 5
  candidates: 24
  elites: 5
  iters: 2
"""


def resolve_device(name):
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def play(env, policy):
    obs, done, total, log_ = env.reset(), False, 0.0, []
    while not done:
        act = policy(obs)
        nxt, rew, done = env.step(act)
        log_.append(np.concatenate([obs, act, nxt - obs]))
        obs, total = nxt, total + rew
    return np.array(log_, dtype=np.float32), total


def fit(world, transitions, cfg):
    split = Pendulum.obs_dim + Pendulum.act_dim
    inputs, deltas = transitions[:, :split], transitions[:, split:]
    world.set_statistics(inputs, deltas)
    x = world.in_scaler.normalize(torch.from_numpy(inputs).to(world.device))
    y = world.out_scaler.normalize(torch.from_numpy(deltas).to(world.device))
    opt = torch.optim.AdamW(world.net.parameters(), lr=cfg["lr"], weight_decay=1e-4)
    sampler = BatchSampler(RandomSampler(range(len(x))), cfg["batch_size"], drop_last=False)
    for _ in range(cfg["fit_epochs"]):
        for idx in sampler:
            loss = world.net.nll(x[idx], y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return loss.item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", type=Path, help="YAML file that overrides the defaults")
    ap.add_argument("--episodes", type=int)
    args = ap.parse_args()
    cfg = yaml.safe_load(DEFAULT_CONFIG)
    if args.config is not None:
        cfg.update(yaml.safe_load(args.config.read_text()))
    if args.episodes is not None:
        cfg["episodes"] = args.episodes

    torch.manual_seed(0)
    env = Pendulum()
    net = EnsembleDynamics(env.obs_dim, env.act_dim, cfg["members"], cfg["hidden"])
    world = WorldModel(net, resolve_device(cfg["device"]))
    planner = CEMPlanner(world, reward, env.act_low, env.act_high, **cfg["planner"])

    data = [play(env, lambda obs: env.random_action())[0] for _ in range(cfg["warmup_episodes"])]
    for ep in range(cfg["episodes"]):
        loss = fit(world, np.concatenate(data), cfg)
        planner.reset()
        episode, ret = play(env, planner)
        data.append(episode)
        log.info("episode %d: model nll %.3f, return %.1f", ep, loss, ret)


if __name__ == "__main__":
    main()
