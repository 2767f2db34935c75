"""Learns static corrections without picks: aligned traces should stack well."""
import argparse

import torch

from align import DelayNet, Gather, shift_traces
from align.shift import self_check


def stack_misfit(traces):
    stack = traces.mean(1, keepdim=True)
    return (traces - stack).square().mean() / traces.square().mean()


@torch.no_grad()
def report(model, gather, device):
    guess = model(gather.traces.to(device)).cpu()
    aligned = shift_traces(gather.traces, -guess)
    error = (guess - gather.delay).abs().median().item()
    before, after = stack_misfit(gather.traces), stack_misfit(aligned)
    print(f"misfit {before:.3f} -> {after:.3f}, median error {error:.2f} samples")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--events", type=int, default=128)
    args = parser.parse_args()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    print("gradient check:", self_check(device))

    train = Gather.simulate(args.events, seed=1)
    test = Gather.simulate(args.events // 4, seed=2)
    model = DelayNet(train.traces.shape[-1]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    report(model, test, device)
    for epoch in range(args.epochs):
        for traces, _ in train.batches(16):
            traces = traces.to(device)
            loss = stack_misfit(shift_traces(traces, -model(traces)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: {loss.item():.4f}", end="; ")
        report(model, test, device)


if __name__ == "__main__":
    main()
