import argparse


def get_parameters():
    parser = argparse.ArgumentParser()
    parser.add_argument('--imsize', type=int, default=16)
    parser.add_argument('--z_dim', type=int, default=24)
    parser.add_argument('--conv_dim', type=int, default=8)
    parser.add_argument('--total_step', type=int, default=6)
    parser.add_argument('--d_iters', type=int, default=1)
    parser.add_argument('--batch_size', type=int, default=8)
    parser.add_argument('--g_lr', type=float, default=0.001)
    parser.add_argument('--d_lr', type=float, default=0.004)
    parser.add_argument('--beta1', type=float, default=0.0)
    parser.add_argument('--beta2', type=float, default=0.9)
    parser.add_argument('--log_step', type=int, default=2)
    return parser.parse_args()
