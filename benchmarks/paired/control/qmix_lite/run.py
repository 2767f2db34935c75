import os
import random
from types import SimpleNamespace as SN

import numpy as np
import torch as th
import yaml

from components.envs import Rendezvous
from components.episode_buffer import EpisodeBuffer
from learners.q_learner import QLearner
from modules.agents import IndependentAgents


def load_config():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "config.yaml")) as f:
        config = yaml.safe_load(f)
    if config["use_cuda"] and not th.cuda.is_available():
        config["use_cuda"] = False
    config["device"] = "cuda" if config["use_cuda"] else "cpu"
    return SN(**config)


def run_episode(env, mac, args):
    obs = env.reset()
    ep = {"obs": [obs], "actions": [], "reward": [], "terminated": []}
    x = th.as_tensor(obs, device=args.device).unsqueeze(0)
    hidden = mac.init_hidden(1, x)
    done = False
    while not done:
        with th.no_grad():
            q, hidden = mac(x, hidden)
        actions = q.argmax(dim=2).squeeze(0).cpu().numpy()
        explore = np.random.rand(args.n_agents) < args.epsilon
        actions[explore] = np.random.randint(args.n_actions, size=explore.sum())
        obs, reward, done = env.step(actions)
        x = th.as_tensor(obs, device=args.device).unsqueeze(0)
        for k, v in (("obs", obs), ("actions", actions), ("reward", reward), ("terminated", float(done))):
            ep[k].append(v)
    return {
        "obs": np.stack(ep["obs"]),
        "actions": np.stack(ep["actions"]),
        "reward": np.array(ep["reward"], dtype=np.float32),
        "terminated": np.array(ep["terminated"], dtype=np.float32),
    }


def main():
    args = load_config()
    random.seed(args.seed)
    np.random.seed(args.seed)
    th.manual_seed(args.seed)

    env = Rendezvous(args)
    mac = IndependentAgents(args)
    learner = QLearner(mac, args)
    if args.use_cuda:
        learner.cuda()
    learner.setup_optimiser()
    buffer = EpisodeBuffer(100)

    for e in range(args.episodes):
        episode = run_episode(env, mac, args)
        buffer.insert(episode)
        if buffer.can_sample(args.batch_size):
            loss, norm = learner.train(buffer.sample(args.batch_size, args.device))
            if e % 4 == 3:
                print("episode %d return %.3f loss %.4f grad norm %.3f" % (e, episode["reward"].sum(), loss, norm))


if __name__ == "__main__":
    main()
