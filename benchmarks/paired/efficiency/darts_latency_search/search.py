import argparse
import itertools
import os

import torch
import torch.nn.functional as F
import yaml
from torch.utils.data import DataLoader, Subset

import signals  # noqa: F401  (fills the registry)
from searchspace import COSTS, DATASETS, SuperNet


def load_config():
    here = os.path.dirname(os.path.abspath(__file__))
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", default=os.path.join(here, "search.yaml"))
    ap.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE")
    a = ap.parse_args()
    with open(a.config) as f:
        cfg = yaml.safe_load(f)
    for item in a.set:
        key, value = item.split("=", 1)
        cfg[key] = yaml.safe_load(value)
    cfg.setdefault("device", "cuda" if torch.cuda.is_available() else "cpu")
    return cfg


def search_epoch(net, cost, loaders, optims, cfg, tau):
    device = cfg["device"]
    w_opt, a_opt = optims
    train, held_out = loaders
    net.train()
    totals = {"w": 0.0, "a": 0.0, "ms": 0.0}
    for (xt, yt), (xv, yv) in zip(train, itertools.cycle(held_out)):
        logits = net(xv.to(device), tau)
        ms = cost.expected(net.mixing(tau))
        a_loss = F.cross_entropy(logits, yv.to(device)) + cfg["cost_weight"] * ms
        a_opt.zero_grad()
        a_loss.backward()
        a_opt.step()

        w_loss = F.cross_entropy(net(xt.to(device), tau), yt.to(device))
        w_opt.zero_grad()
        w_loss.backward()
        torch.nn.utils.clip_grad_norm_(net.weight_parameters(), 5.0)
        w_opt.step()

        totals["w"] += w_loss.item()
        totals["a"] += a_loss.item()
        totals["ms"] += ms.item()
    return {k: v / len(train) for k, v in totals.items()}


def main():
    cfg = load_config()
    torch.manual_seed(cfg["seed"])
    dataset = DATASETS.build(cfg["data"])
    half = len(dataset) // 2
    loaders = [
        DataLoader(Subset(dataset, r), batch_size=cfg["batch_size"], shuffle=True)
        for r in (range(half), range(half, len(dataset)))
    ]
    space = cfg["supernet"]
    net = SuperNet(**space).to(cfg["device"])
    cost = COSTS.build(cfg["cost"], ops=space["ops"], channels=space["channels"], length=cfg["data"]["length"])
    optims = (
        torch.optim.SGD(net.weight_parameters(), lr=cfg["optim"]["w_lr"], momentum=0.9),
        torch.optim.Adam(net.arch_parameters(), lr=cfg["optim"]["a_lr"], betas=(0.5, 0.999)),
    )
    for epoch in range(cfg["epochs"]):
        frac = epoch / max(1, cfg["epochs"] - 1)
        tau = cfg["tau"]["start"] + frac * (cfg["tau"]["end"] - cfg["tau"]["start"])
        stats = search_epoch(net, cost, loaders, optims, cfg, tau)
        print("epoch %d tau %.2f w_loss %.3f a_loss %.3f expected %.3f ms" %
              (epoch, tau, stats["w"], stats["a"], stats["ms"]))
    genotype = net.genotype()
    print("genotype", genotype, "%.3f ms" % cost.of(genotype, space["ops"]))


if __name__ == "__main__":
    main()
