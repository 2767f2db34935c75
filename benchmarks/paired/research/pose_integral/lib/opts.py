import argparse

import torch


def parse_opts():
    parser = argparse.ArgumentParser(description='Integral human pose regression')
    parser.add_argument('--exp_id', default='default')
    parser.add_argument('--arch', default='hourglass', help='hourglass | simple')
    parser.add_argument('--num_stacks', type=int, default=2)
    parser.add_argument('--input_res', type=int, default=32)
    parser.add_argument('--num_joints', type=int, default=5)
    parser.add_argument('--batch_size', type=int, default=8)
    parser.add_argument('--num_epochs', type=int, default=2)
    parser.add_argument('--lr', type=float, default=2e-3)
    parser.add_argument('--loss', default='integral', help='integral | heatmap')
    parser.add_argument('--val_intervals', type=int, default=1)
    parser.add_argument('--load_model', default='')
    parser.add_argument('--gpus', default='0')
    args = parser.parse_args()
    use_gpu = args.gpus != '-1' and torch.cuda.is_available()
    args.device = torch.device('cuda' if use_gpu else 'cpu')
    args.output_res = args.input_res // 2
    return args
