import argparse

import torch

from config import load_config
from engine import Engine


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--config', default=None, help='json file with settings that differ from the defaults')
    parser.add_argument('--model', default=None)
    parser.add_argument('--epochs', type=int, default=None)
    parser.add_argument('--out', default=None)
    args = parser.parse_args()
    cfg = load_config(args.config, model=args.model, epochs=args.epochs)
    torch.manual_seed(cfg['seed'])
    best = Engine(cfg, out=args.out).fit()
    print('best val score %.3f' % best)


if __name__ == '__main__':
    main()
