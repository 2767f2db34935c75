"""Fits a neural energy to samples of a mixture by contrastive divergence."""
import argparse

import torch

from chain import Chain, ChainConfig, ReplayBuffer
from energy import MixtureEnergy, NeuralEnergy
from randomness import Streams


def reference(streams, device, rows):
    """Samples of the target, drawn by MALA and collected on the host."""
    angle = torch.arange(4) * torch.pi / 2
    centers = 2 * torch.stack([angle.cos(), angle.sin()], dim=1)
    target = MixtureEnergy(centers).to(device)
    start = centers.repeat(rows // 4, 1).to(device)
    chain = Chain(target, ChainConfig(step=0.03, burn_in=10), streams)
    return torch.cat(list(chain.samples(start, 4)))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--iterations", type=int, default=20)
    ap.add_argument("--seed", type=int, default=5)
    ap.add_argument("--kernel", default="ula")
    args = ap.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(args.seed)

    root = Streams(args.seed)
    data = reference(root.spawn("reference", device), device, rows=64)
    print("data", tuple(data.shape), data.device)

    host = root.spawn("host")
    buffer = ReplayBuffer(256, 2, host)
    energy = NeuralEnergy(2, 32).to(device)
    opt = torch.optim.Adam(energy.parameters(), lr=2e-3)
    chain = Chain(energy, ChainConfig(kernel=args.kernel, step=0.05), root.spawn("chain", device))
    for it in range(args.iterations):
        pick = torch.randperm(len(data), generator=host["order"])[:64]
        real = data[pick].to(device)
        fake = chain.advance(buffer.draw(64, device), 10)
        buffer.put(fake)
        pos, neg = energy(real), energy(fake.detach())
        loss = pos.mean() - neg.mean() + 0.01 * (pos.pow(2) + neg.pow(2)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 10 == 0:
            print(f"iteration {it}: gap {(pos.mean() - neg.mean()).item():+.4f}")
    radius = buffer.rows.norm(dim=1).mean().item()
    print(f"mean radius of the buffer {radius:.3f}")


if __name__ == "__main__":
    main()
