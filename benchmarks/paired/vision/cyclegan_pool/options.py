import argparse

import torch


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument('--gpu_ids', type=str, default='0', help='gpu ids: e.g. 0  0,1,2. use -1 for CPU')
    parser.add_argument('--ngf', type=int, default=8)
    parser.add_argument('--ndf', type=int, default=8)
    parser.add_argument('--n_blocks', type=int, default=1)
    parser.add_argument('--pool_size', type=int, default=6)
    parser.add_argument('--batch_size', type=int, default=3)
    parser.add_argument('--lambda_cycle', type=float, default=10.0)
    parser.add_argument('--n_iters', type=int, default=8)
    parser.add_argument('--lr', type=float, default=0.0002)
    opt = parser.parse_args()

    ids = [int(s) for s in opt.gpu_ids.split(',')]
    opt.gpu_ids = [i for i in ids if i >= 0] if torch.cuda.is_available() else []
    if opt.gpu_ids:
        torch.cuda.set_device(opt.gpu_ids[0])
    return opt
