import argparse

import torch

from envs import PointMass
from policy import ActorCritic
from ppo import PPO
from rollout import Collector


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--updates", type=int, default=30)
    parser.add_argument("--envs", type=int, default=32)
    parser.add_argument("--length", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="auto")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    if args.device == "auto":
        args.device = "cuda" if torch.cuda.is_available() else "cpu"
    device = torch.device(args.device)
    envs = PointMass(args.envs, seed=args.seed)
    policy = ActorCritic(envs.obs_dim, envs.act_dim).to(device)
    collector = Collector(envs, policy, device, length=args.length)
    learner = PPO(policy, seed=args.seed)
    for update in range(1, args.updates + 1):
        batch, reward = collector.collect()
        loss = learner.update(batch)
        if update % 5 == 0:
            print(f"update {update} reward {reward:.3f} loss {loss:.3f}")


if __name__ == "__main__":
    main()
