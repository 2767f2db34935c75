import argparse

import numpy as np
import torch
import torch.nn as nn

from learners import LEARNERS
from stream import make_tasks


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--method", default="derpp", choices=sorted(LEARNERS))
    p.add_argument("--tasks", type=int, default=3)
    p.add_argument("--classes", type=int, default=2, help="per task")
    p.add_argument("--samples", type=int, default=96)
    p.add_argument("--buffer-size", type=int, default=40)
    p.add_argument("--buffer-on-gpu", type=int, default=1, help="1: next to the model, 0: host memory")
    p.add_argument("--minibatch", type=int, default=16)
    p.add_argument("--alpha", type=float, default=0.3)
    p.add_argument("--beta", type=float, default=0.5)
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--no-cuda", dest="cuda", action="store_false")
    args = p.parse_args()
    args.device = torch.device("cuda" if args.cuda and torch.cuda.is_available() else "cpu")
    args.num_classes = args.tasks * args.classes
    return args


@torch.no_grad()
def test(learner, loader, device):
    learner.eval()
    n = hits = 0
    for x, y in loader:
        hits += (learner(x.to(device)).argmax(1) == y.to(device)).sum()
        n += len(y)
    learner.train()
    return hits.item() / n


def main():
    args = parse()
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, args.num_classes)).to(args.device)
    learner = LEARNERS[args.method](net, args)
    acc = np.zeros((args.tasks, args.tasks))
    past = []
    for t, train, val in make_tasks(args.tasks, args.classes, args.samples, 16, args.seed):
        for x, y in train:
            loss = learner.observe(x.to(args.device), y.to(args.device))
        learner.end_task(t)
        past.append(val)
        acc[t, :t + 1] = [test(learner, v, args.device) for v in past]
        print("task %d loss %.3f acc %s" % (t, loss, np.round(acc[t, :t + 1], 2)))
    forgetting = (acc.max(0) - acc[-1])[:-1].mean()
    print("average %.3f forgetting %.3f" % (acc[-1].mean(), forgetting))


if __name__ == "__main__":
    main()
