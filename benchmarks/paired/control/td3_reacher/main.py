import argparse

import numpy as np
import torch

from reacher import Reacher1D
from td3 import TD3, ReplayBuffer


def eval_policy(policy, seed, episodes=2):
    env = Reacher1D(seed + 100)
    total = 0.0
    for _ in range(episodes):
        state, done = env.reset(), False
        while not done:
            state, reward, done = env.step(policy.select_action(state))
            total += reward
    print("Evaluation over %d episodes: %.3f" % (episodes, total / episodes))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", default=0, type=int)
    parser.add_argument("--start_timesteps", default=60, type=int)
    parser.add_argument("--eval_freq", default=50, type=int)
    parser.add_argument("--max_timesteps", default=150, type=int)
    parser.add_argument("--expl_noise", default=0.1, type=float)
    args = parser.parse_args()

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)

    env = Reacher1D(args.seed)
    policy = TD3(env.state_dim, env.action_dim, env.max_action, device)
    buffer = ReplayBuffer(env.state_dim, env.action_dim, device=device)

    state = env.reset()
    for t in range(args.max_timesteps):
        if t < args.start_timesteps:
            action = np.random.uniform(-env.max_action, env.max_action, size=env.action_dim)
        else:
            action = policy.select_action(state, noise=args.expl_noise)
        next_state, reward, done = env.step(action)
        buffer.add(state, action, next_state, reward, 0.0)
        state = env.reset() if done else next_state

        if t >= args.start_timesteps:
            policy.train(buffer)
        if (t + 1) % args.eval_freq == 0:
            eval_policy(policy, args.seed)
