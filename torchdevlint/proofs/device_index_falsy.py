"""TDL520: GPU 0 is a device, and 0 is false."""

import argparse

import torch

CODE = "TDL520"
SHAPES = ("1",)
EXPECT = r"GPU 0 was asked for, cpu is used"


parser = argparse.ArgumentParser()
parser.add_argument("--gpu", type=int, default=None)


def fault() -> str:
    args = parser.parse_args(["--gpu", "0"])
    x = torch.ones(1)
    if args.gpu:
        x = x.cuda(args.gpu)
    return f"GPU {args.gpu} was asked for, {x.device} is used"


def repair() -> str:
    args = parser.parse_args(["--gpu", "0"])
    x = torch.ones(1)
    if args.gpu is not None:
        x = x.cuda(args.gpu)
    return f"GPU {args.gpu} was asked for, {x.device} is used"
