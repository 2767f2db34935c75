#!/usr/bin/env python
import argparse
import os
import tempfile

import torch

from conv_tasnet import ConvTasNet
from data import get_loader
from evaluate import evaluate
from solver import Solver

parser = argparse.ArgumentParser("Fully-Convolutional Time-domain Audio Separation Network (Conv-TasNet)")
parser.add_argument('--N', default=16, type=int)
parser.add_argument('--L', default=16, type=int)
parser.add_argument('--B', default=12, type=int)
parser.add_argument('--H', default=16, type=int)
parser.add_argument('--X', default=2, type=int)
parser.add_argument('--R', default=1, type=int)
parser.add_argument('--C', default=2, type=int)
parser.add_argument('--use_cuda', type=int, default=1, help='Whether use GPU')
parser.add_argument('--epochs', default=2, type=int)
parser.add_argument('--half_lr', dest='half_lr', default=0, type=int)
parser.add_argument('--max_norm', default=5, type=float)
parser.add_argument('--batch_size', default=4, type=int)
parser.add_argument('--lr', default=5e-3, type=float)
parser.add_argument('--momentum', default=0.0, type=float)
parser.add_argument('--optimizer', default='adam', choices=['sgd', 'adam'])
parser.add_argument('--save_folder', default='')
parser.add_argument('--continue_from', default='')
parser.add_argument('--model_path', default='final.pth.tar')
parser.add_argument('--print_freq', default=4, type=int)


def main(args):
    args.use_cuda = bool(args.use_cuda) and torch.cuda.is_available()
    args.save_folder = args.save_folder or tempfile.mkdtemp()
    data = {'tr_loader': get_loader(16, 1, args.batch_size, shuffle=True),
            'cv_loader': get_loader(4, 2, args.batch_size)}
    model = ConvTasNet(args.N, args.L, args.B, args.H, args.X, args.R, args.C)
    if args.use_cuda:
        model = torch.nn.DataParallel(model)
        model.cuda()
    if args.optimizer == 'sgd':
        optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=args.momentum)
    else:
        optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    solver = Solver(data, model, optimizer, args)
    solver.train()
    evaluate(os.path.join(args.save_folder, args.model_path), args.use_cuda)


if __name__ == '__main__':
    args = parser.parse_args()
    torch.manual_seed(42)
    main(args)
