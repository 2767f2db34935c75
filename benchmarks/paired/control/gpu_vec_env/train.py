import argparse

import torch

from rl.a2c_continuous import A2CAgent
from tasks import isaac_task_map


def get_args():
    default = 'cuda:0' if torch.cuda.is_available() else 'cpu'
    parser = argparse.ArgumentParser()
    parser.add_argument('--task', default='Cartpole', choices=sorted(isaac_task_map))
    parser.add_argument('--num_envs', type=int, default=32)
    parser.add_argument('--max_iterations', type=int, default=6)
    parser.add_argument('--sim_device', default=default)
    parser.add_argument('--rl_device', default=default)
    parser.add_argument('--seed', type=int, default=42)
    return parser.parse_args()


if __name__ == '__main__':
    args = get_args()
    torch.manual_seed(args.seed)
    cfg = {"numEnvs": args.num_envs, "maxEpisodeLength": 60, "resetDist": 2.5}
    env = isaac_task_map[args.task](cfg, sim_device=args.sim_device, rl_device=args.rl_device)
    agent = A2CAgent(env)
    for epoch in range(args.max_iterations):
        reward, resets = agent.train_epoch()
        print('epoch: {} mean reward: {:.3f} resets: {:.0f}'.format(epoch, reward, resets))
