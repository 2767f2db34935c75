import argparse
import json
import pathlib
import tempfile
from dataclasses import dataclass, field
from typing import List

import numpy as np
import torch

from buffer import AggregatedDataset
from policies import GaussianMLP
from reach_env import ReachEnv, pd_expert
from seeding import make_generator, seed_everything


@dataclass
class DaggerConfig:
    rounds: int = 3
    epochs_per_round: int = 3
    n_envs: int = 8
    horizon: int = 15
    batch_size: int = 32
    lr: float = 1e-2
    beta_decay: float = 0.5
    hidden: List[int] = field(default_factory=lambda: [32, 32])
    seed: int = 0
    device: str = "auto"

    def resolve_device(self):
        if self.device == "auto":
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        return torch.device(self.device)


class DaggerTrainer:
    def __init__(self, cfg: DaggerConfig, workdir):
        self.cfg = cfg
        self.workdir = pathlib.Path(workdir)
        self.device = cfg.resolve_device()
        self.env = ReachEnv(cfg.n_envs, cfg.horizon, cfg.seed)
        self.policy = GaussianMLP(self.env.obs_dim, self.env.act_dim, cfg.hidden).to(self.device)
        self.optim = torch.optim.Adam(self.policy.parameters(), lr=cfg.lr)
        capacity = cfg.rounds * cfg.n_envs * cfg.horizon
        self.data = AggregatedDataset(
            capacity, self.env.obs_dim, self.env.act_dim, generator=make_generator(cfg.seed)
        )
        self.explore_gen = make_generator(cfg.seed + 1, self.device)
        self.history = []

    def collect(self, round_id):
        """Roll out the expert/learner mixture; the expert labels every state."""
        beta = self.cfg.beta_decay ** round_id
        obs, done, rewards = self.env.reset(), False, []
        while not done:
            label = pd_expert(obs)
            self.data.extend(obs, label, round_id)
            action = label
            if round_id > 0:
                mine = self.policy.act(obs, explore=True, generator=self.explore_gen)
                use_expert = self.env.rng.random((len(obs), 1)) < beta
                action = np.where(use_expert, label, mine)
            obs, r, done = self.env.step(action)
            rewards.append(r)
        return float(np.mean(rewards))

    def fit(self):
        self.policy.set_normalizer(*self.data.moments())
        total, count = 0.0, 0
        for _ in range(self.cfg.epochs_per_round):
            for obs, act in self.data.minibatches(self.cfg.batch_size, self.device):
                loss = -self.policy.log_prob(obs, act).mean()
                self.optim.zero_grad()
                loss.backward()
                self.optim.step()
                total += loss.item() * len(obs)
                count += len(obs)
        return total / count

    def evaluate(self):
        env = ReachEnv(self.cfg.n_envs, self.cfg.horizon, seed=1234)
        obs, done = env.reset(), False
        while not done:
            obs, r, done = env.step(self.policy.act(obs))
        return float(-r.mean())

    def run(self):
        for k in range(self.cfg.rounds):
            reward = self.collect(k)
            nll = self.fit()
            row = {"round": k, "n": len(self.data), "mix_reward": reward, "nll": nll, "final_dist": self.evaluate()}
            self.history.append(row)
            print(json.dumps({a: round(b, 4) for a, b in row.items()}))
            torch.save(
                {"policy": self.policy.state_dict(), "explore_rng": self.explore_gen.get_state()},
                self.workdir / f"round{k}.pt",
            )


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--device", default="auto")
    ap.add_argument("--seed", type=int, default=0)
    ns = ap.parse_args()
    seed_everything(ns.seed)
    with tempfile.TemporaryDirectory() as tmp:
        DaggerTrainer(DaggerConfig(rounds=ns.rounds, device=ns.device, seed=ns.seed), tmp).run()
