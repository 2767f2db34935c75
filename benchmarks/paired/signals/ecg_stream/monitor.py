import argparse
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F

import synth
from model import BeatNet
from ring import SlidingFrame


@dataclass
class Setup:
    rate: int = 180
    length: int = 180
    hop: int = 30
    threshold: float = 0.5


def train(model, setup, steps, device, rng):
    x, y = synth.windows(512, setup.length, setup.rate, rng)
    x = torch.from_numpy(x)[:, None].to(device)
    y = torch.from_numpy(y).to(device)
    model.fit_scale(x)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(steps):
        pick = torch.randint(len(x), (64,)).to(device)
        loss = F.cross_entropy(model(x[pick]), y[pick])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"trained {steps} steps, loss {loss.item():.4f}")


class Monitor:
    """Classifies the centred beats of a stream, chunk by chunk."""

    def __init__(self, model, setup, device):
        self.model = model.eval()
        self.setup = setup
        self.frame = SlidingFrame(setup.length, device)
        self.history = []

    @torch.inference_mode()
    def feed(self, chunk, clock):
        self.frame.push(chunk)
        if not self.frame.ready:
            return None
        offset = self.frame.peak_position - self.setup.length // 2
        if abs(offset) > self.setup.hop:
            return None
        prob = self.model(self.frame.window).softmax(-1)[0, 1].item()
        when = clock - self.setup.length / (2 * self.setup.rate) + offset / self.setup.rate
        self.history.append((when, prob))
        return prob


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--cpu", action="store_true")
    args = parser.parse_args()

    torch.manual_seed(1)
    rng = np.random.default_rng(1)
    use_gpu = torch.cuda.is_available() and not args.cpu
    device = torch.device("cuda" if use_gpu else "cpu")
    setup = Setup()
    model = BeatNet().to(device)
    train(model, setup, args.steps, device, rng)

    signal, events = synth.record(args.seconds, setup.rate, rng)
    monitor = Monitor(model, setup, device)
    for start in range(0, len(signal) - setup.hop + 1, setup.hop):
        stop = start + setup.hop
        monitor.feed(signal[start:stop], stop / setup.rate)

    hits = 0
    for when, prob in monitor.history:
        truth = min(events, key=lambda e: abs(e[0] - when))[1]
        hits += (prob > setup.threshold) == truth
        print(f"{when:6.2f}s {BeatNet.LABELS[prob > setup.threshold]:12s} p={prob:.3f} truth={int(truth)}")
    print(f"{hits} of {len(monitor.history)} beats agree")


if __name__ == "__main__":
    main()
