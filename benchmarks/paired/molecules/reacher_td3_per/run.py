import argparse
import os
import tempfile
from collections import defaultdict

import numpy as np
import torch

from rl.agent import TD3
from rl.buffer import PrioritizedReplay
from rl.env import TwoLinkReacher


def evaluate(agent, episodes=2, seed=999):
    env, scores = TwoLinkReacher(seed), []
    for _ in range(episodes):
        obs, total, over = env.reset(), 0.0, False
        while not over:
            obs, r, term, trunc = env.step(agent.act(obs))
            total += r
            over = term or trunc
        scores.append(total)
    return float(np.mean(scores))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=400)
    p.add_argument("--warmup", type=int, default=100)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--update-every", type=int, default=4)
    p.add_argument("--eval-every", type=int, default=100)
    p.add_argument("--device", default="auto")
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()

    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    if args.device == "auto":
        args.device = "cuda" if torch.cuda.is_available() else "cpu"
    device = torch.device(args.device)

    env = TwoLinkReacher(args.seed)
    agent = TD3(env.obs_dim, env.act_dim, device)
    replay = PrioritizedReplay(1024, env.obs_dim, env.act_dim, device, seed=args.seed)
    stats = defaultdict(list)

    obs = env.reset()
    for step in range(1, args.steps + 1):
        if step <= args.warmup:
            action = np.random.uniform(-1, 1, env.act_dim).astype(np.float32)
        else:
            action = agent.act(obs, noise=0.2)
        next_obs, reward, term, trunc = env.step(action)
        replay.add(obs, action, reward, next_obs, float(term))
        obs = env.reset() if term or trunc else next_obs

        if step > args.warmup and step % args.update_every == 0:
            batch = replay.sample(args.batch)
            metrics, td = agent.update(batch)
            replay.update_priorities(batch.index, td)
            for k, v in metrics.items():
                stats[k].append(v)
        if step % args.eval_every == 0:
            line = " ".join(f"{k} {np.mean(v[-20:]):.3f}" for k, v in stats.items())
            print(f"step {step} return {evaluate(agent):.2f} {line}")

    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "actor.pt")
        torch.save(agent.export(), path)
        agent.actor.load_state_dict(torch.load(path))
    print("final return %.2f, max priority %.2f" % (evaluate(agent), replay.max_priority))


if __name__ == "__main__":
    main()
