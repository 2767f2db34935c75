import argparse

import numpy as np
import torch

from agents import SACAgent
from env import Reacher
from replay import ReplayBuffer


def evaluate(agent, episodes, seed):
    env, returns = Reacher(seed=seed), []
    for _ in range(episodes):
        obs, done, total = env.reset(), False, 0.0
        while not done:
            obs, reward, done = env.step(agent.act(obs, deterministic=True))
            total += reward
        returns.append(total)
    return float(np.mean(returns))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--warmup", type=int, default=200)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()

    env = Reacher(seed=args.seed)
    agent = SACAgent(env.obs_dim, env.act_dim, seed=args.seed).to(torch.device(args.device))
    buffer = ReplayBuffer(5000, env.obs_dim, env.act_dim, seed=args.seed)
    stats = {}
    for episode in range(args.episodes):
        obs, done = env.reset(), False
        while not done:
            if len(buffer) < args.warmup:
                action = env.rng.uniform(-1, 1, env.act_dim)
            else:
                action = agent.act(obs)
            nxt, reward, done = env.step(action)
            buffer.add(obs=obs, action=action, reward=reward, next_obs=nxt, done=0.0)
            obs = nxt
            if len(buffer) >= args.warmup and env.t % 4 == 0:
                stats = agent.update(buffer.sample(args.batch_size, agent.device))
        if episode % 5 == 4:
            line = " ".join(f"{k}={v:.3f}" for k, v in stats.items())
            print(f"episode {episode + 1} return {evaluate(agent, 2, 100):.2f} {line}")


if __name__ == "__main__":
    main()
