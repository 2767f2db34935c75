# -*- coding: utf-8 -*-
from __future__ import division
import argparse

import numpy as np
import torch

from agent import Agent
from env import Corridor
from memory import ReplayMemory

parser = argparse.ArgumentParser(description='Rainbow (without the noisy nets)')
parser.add_argument('--seed', type=int, default=123, help='Random seed')
parser.add_argument('--disable-cuda', action='store_true', help='Disable CUDA')
parser.add_argument('--T-max', type=int, default=120, metavar='STEPS')
parser.add_argument('--hidden-size', type=int, default=32)
parser.add_argument('--atoms', type=int, default=21, metavar='C', help='Discretised size of value distribution')
parser.add_argument('--V-min', type=float, default=-2)
parser.add_argument('--V-max', type=float, default=2)
parser.add_argument('--memory-capacity', type=int, default=256)
parser.add_argument('--priority-exponent', type=float, default=0.5, metavar='ω')
parser.add_argument('--priority-weight', type=float, default=0.4, metavar='β')
parser.add_argument('--multi-step', type=int, default=3, metavar='n')
parser.add_argument('--discount', type=float, default=0.97, metavar='γ')
parser.add_argument('--target-update', type=int, default=40)
parser.add_argument('--learning-rate', type=float, default=1e-3, metavar='η')
parser.add_argument('--batch-size', type=int, default=16)
parser.add_argument('--learn-start', type=int, default=60)
parser.add_argument('--norm-clip', type=float, default=10)
args = parser.parse_args()

np.random.seed(args.seed)
torch.manual_seed(np.random.randint(1, 10000))
if torch.cuda.is_available() and not args.disable_cuda:
    args.device = torch.device('cuda')
    torch.cuda.manual_seed(np.random.randint(1, 10000))
else:
    args.device = torch.device('cpu')

env = Corridor(args)
dqn = Agent(args, env)
mem = ReplayMemory(args, args.memory_capacity)
priority_weight_increase = (1 - args.priority_weight) / (args.T_max - args.learn_start)

done, rewards, losses = True, [], []
for T in range(1, args.T_max + 1):
    if done:
        state, total = env.reset(), 0
    action = dqn.act_e_greedy(state, epsilon=0.2)
    next_state, reward, done = env.step(action)
    mem.append(state, action, reward, done)
    total += reward
    if done:
        rewards.append(total)

    if T >= args.learn_start:
        mem.priority_weight = min(mem.priority_weight + priority_weight_increase, 1)
        losses.append(dqn.learn(mem))
        if T % args.target_update == 0:
            dqn.update_target_net()
            print('T = %d / %d | loss %.4f | last returns %s' % (
                T, args.T_max, np.mean(losses[-20:]), np.round(rewards[-3:], 2)))
    state = next_state
