import argparse

import torch


class Options:
    def __init__(self):
        p = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
        p.add_argument("--gpu_ids", type=str, default="0", help="e.g. 0 or 0,1; -1 for the CPU")
        p.add_argument("--n_epochs", type=int, default=4)
        p.add_argument("--batch", type=int, default=32)
        p.add_argument("--lr", type=float, default=0.02)
        p.add_argument("--temperature", type=float, default=0.4)
        self.parser = p

    def parse(self):
        opt = self.parser.parse_args()
        ids = [int(s) for s in opt.gpu_ids.split(",") if int(s) >= 0]
        if ids and torch.cuda.is_available():
            torch.cuda.set_device(ids[0])
            opt.device = torch.device("cuda", ids[0])
        else:
            opt.device = torch.device("cpu")
        return opt
