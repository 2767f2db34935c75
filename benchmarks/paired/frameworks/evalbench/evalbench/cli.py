import argparse
import json

import torch
import torch.nn.functional as F
from torch import nn

from . import TASKS


class Encoder(nn.Module):
    def __init__(self, inputs=16, width=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(inputs, width), nn.Tanh(), nn.Linear(width, width))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


def warm_up(model, device, steps):
    """A few steps of contrastive training, so that there is something to measure."""
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(steps):
        x = torch.randn(32, 16, device=device)
        a, b = model(x), model(x + 0.3 * torch.randn_like(x))
        loss = F.cross_entropy(a @ b.T / 0.1, torch.arange(len(x), device=device))
        opt.zero_grad()
        loss.backward()
        opt.step()
    return model.eval()


def cmd_list(args):
    for name, cls in sorted(TASKS.items()):
        print(name, json.dumps(cls.defaults))


def cmd_run(args):
    torch.manual_seed(args.seed)
    device = torch.device(args.device)
    model = warm_up(Encoder().to(device), device, args.warm_up)
    report = {}
    for name in args.tasks or sorted(TASKS):
        task = TASKS[name](device, **TASKS[name].defaults)
        outputs = [task.predict(model, batch) for batch in task.batches()]
        report[name] = {k: round(v, 4) for k, v in task.score(outputs).items()}
    print(json.dumps(report, indent=2))


def main(argv=None):
    ap = argparse.ArgumentParser(prog="evalbench")
    sub = ap.add_subparsers(required=True)
    sub.add_parser("list").set_defaults(func=cmd_list)
    run = sub.add_parser("run")
    run.add_argument("tasks", nargs="*")
    run.add_argument("--seed", type=int, default=0)
    run.add_argument("--warm-up", type=int, default=30)
    run.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    run.set_defaults(func=cmd_run)
    args = ap.parse_args(argv)
    args.func(args)
