import argparse
import itertools
import json
import logging
import os
import tempfile

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, SubsetRandomSampler, TensorDataset

from nas import Architect, SuperNet
from nas.latency import measure


def waves(n, length=16, seed=0):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 3, (n,), generator=g)
    t = torch.arange(length) / length
    x = torch.sin(2 * torch.pi * (1 + 2 * y[:, None]) * (t + torch.rand(n, 1, generator=g)))
    return TensorDataset((x + 0.2 * torch.randn(n, length, generator=g))[:, None], y)


def search_epoch(net, architect, optimizer, train_queue, valid_queue, device):
    net.train()
    losses = []
    for (x, y), (xv, yv) in zip(train_queue, itertools.cycle(valid_queue)):
        arch_loss = architect.step(xv.to(device), yv.to(device))
        loss = F.cross_entropy(net(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimizer.step()
        losses.append((loss.item(), arch_loss))
    return [sum(v) / len(losses) for v in zip(*losses)]


def main():
    parser = argparse.ArgumentParser("darts")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--arch-lr", type=float, default=0.1)
    parser.add_argument("--latency-weight", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=2)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")

    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = waves(128)
    half = len(data) // 2
    train_queue = DataLoader(data, args.batch_size, sampler=SubsetRandomSampler(range(half)))
    valid_queue = DataLoader(data, args.batch_size, sampler=SubsetRandomSampler(range(half, len(data))))

    net = SuperNet()
    table = measure(net, length=data.tensors[0].shape[-1])
    architect = Architect(net, args.arch_lr, args.latency_weight, table)
    net.to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=3e-4)

    history = []
    for epoch in range(args.epochs):
        loss, arch_loss = search_epoch(net, architect, optimizer, train_queue, valid_queue, device)
        history.append(net.genotype())
        entropy = sum(torch.special.entr(p).sum(-1).mean().item() for p in net.probs())
        logging.info("epoch %d train %.3f arch %.3f entropy %.4f %s", epoch, loss, arch_loss, entropy, history[-1])

    out = tempfile.mkdtemp(prefix="darts_")
    with open(os.path.join(out, "genotypes.json"), "w") as f:
        json.dump(history, f)
    net.to("cpu")
    torch.save({"net": net.state_dict(), "alphas": [a.detach() for a in net.arch_parameters()]},
               os.path.join(out, "supernet.pt"))
    net.eval()
    with torch.no_grad():
        x, y = data[half:]
        logging.info("supernet accuracy on cpu %.3f", (net(x).argmax(1) == y).float().mean())


if __name__ == "__main__":
    main()
