import argparse

import torch


def get_args():
    parser = argparse.ArgumentParser(description='RL')
    parser.add_argument('--lr', type=float, default=7e-4)
    parser.add_argument('--alpha', type=float, default=0.99, help='RMSprop optimizer alpha')
    parser.add_argument('--gamma', type=float, default=0.95)
    parser.add_argument('--entropy-coef', type=float, default=0.01)
    parser.add_argument('--value-loss-coef', type=float, default=0.5)
    parser.add_argument('--max-grad-norm', type=float, default=0.5)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--num-processes', type=int, default=6)
    parser.add_argument('--num-steps', type=int, default=8)
    parser.add_argument('--num-updates', type=int, default=12)
    parser.add_argument('--log-interval', type=int, default=4)
    parser.add_argument('--no-cuda', action='store_true', default=False)
    args = parser.parse_args()
    args.cuda = not args.no_cuda and torch.cuda.is_available()
    return args
