import argparse
import time
from collections import Counter
from contextlib import contextmanager
from typing import Iterator, List, NamedTuple, Tuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

parser = argparse.ArgumentParser(description="Multi-exit network with confidence based early exit")
parser.add_argument("--steps", type=int, default=25)
parser.add_argument("--batch", type=int, default=48)
parser.add_argument("--target-acc-drop", type=float, default=0.05)
parser.add_argument("--device", type=str, default=None)


class ExitResult(NamedTuple):
    probs: Tensor
    exit_at: Tensor


@contextmanager
def timed(label: str):
    t0 = time.perf_counter()
    yield
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    print(f"{label}: {(time.perf_counter() - t0) * 1e3:.1f} ms")


class Stage(nn.Module):
    def __init__(self, c_in: int, c_out: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(c_in, c_out, 3, stride, 1, bias=False), nn.BatchNorm2d(c_out), nn.ReLU(inplace=True)
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x)


class MultiExitNet(nn.Module):
    def __init__(self, widths: List[int], num_classes: int) -> None:
        super().__init__()
        ins = [1] + widths[:-1]
        self.stages = nn.ModuleList(Stage(a, b, 1 if i == 0 else 2) for i, (a, b) in enumerate(zip(ins, widths)))
        self.exits = nn.ModuleList(nn.Linear(w, num_classes) for w in widths)
        self.num_classes = num_classes
        self.register_buffer("thresholds", torch.full((len(widths),), 0.9))

    def each_exit(self, x: Tensor) -> Iterator[Tensor]:
        for stage, head in zip(self.stages, self.exits):
            x = stage(x)
            yield head(x.mean((2, 3)))

    def forward(self, x: Tensor) -> List[Tensor]:
        return list(self.each_exit(x))

    @torch.inference_mode()
    def predict(self, x: Tensor) -> ExitResult:
        """Runs every stage only on the samples that have not left yet."""
        n = x.size(0)
        probs = x.new_zeros(n, self.num_classes)
        exit_at = torch.full((n,), -1, dtype=torch.long, device=x.device)
        pending = torch.arange(n, device=x.device)
        last = len(self.stages) - 1
        for i, (stage, head) in enumerate(zip(self.stages, self.exits)):
            x = stage(x)
            p = head(x.mean((2, 3))).softmax(-1)
            leave = p.amax(-1) >= self.thresholds[i]
            if i == last:
                leave = torch.ones_like(leave)
            gone = pending[leave]
            probs[gone] = p[leave]
            exit_at[gone] = i
            x, pending = x[~leave], pending[~leave]
            if pending.numel() == 0:
                break
        return ExitResult(probs, exit_at)


def shapes(n: int, seed: int, size: int = 12) -> Tuple[Tensor, Tensor]:
    """Squares, discs and crosses with varying contrast (easy to hard)."""
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 3, (n,), generator=g)
    contrast = torch.rand(n, 1, 1, generator=g) * 1.8 + 0.2
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, size), torch.linspace(-1, 1, size), indexing="ij")
    square = ((yy.abs() < 0.6) & (xx.abs() < 0.6)).float()
    disc = (yy ** 2 + xx ** 2 < 0.7).float() * (yy ** 2 + xx ** 2 > 0.2).float()
    cross = ((yy.abs() < 0.2) | (xx.abs() < 0.2)).float()
    img = torch.stack([square, disc, cross])[y] * contrast
    return (img + 0.3 * torch.randn(n, size, size, generator=g)).unsqueeze(1), y


def joint_loss(outputs: List[Tensor], target: Tensor) -> Tensor:
    teacher = outputs[-1].detach().softmax(-1)
    loss = F.cross_entropy(outputs[-1], target)
    for i, out in enumerate(outputs[:-1]):
        kd = F.kl_div(out.log_softmax(-1), teacher, reduction="batchmean")
        loss = loss + (i + 1) / len(outputs) * (F.cross_entropy(out, target) + 0.5 * kd)
    return loss


@torch.no_grad()
def calibrate(net: MultiExitNet, x: Tensor, y: np.ndarray, drop: float, device: torch.device) -> None:
    """Smallest threshold per exit that keeps the accuracy of the confident
    samples within `drop` of the last exit."""
    net.eval()
    per_exit = [o.softmax(-1).cpu().numpy() for o in net(x.to(device))]
    full = (per_exit[-1].argmax(1) == y).mean()
    chosen = []
    for p in per_exit:
        conf, ok = p.max(1), p.argmax(1) == y
        best = 1.0
        for t in np.linspace(0.99, 0.35, 33):
            sel = conf >= t
            if sel.any() and ok[sel].mean() >= full - drop:
                best = t
        chosen.append(best)
    net.thresholds.copy_(torch.tensor(chosen))
    print("thresholds", np.round(chosen, 3).tolist())


def main() -> None:
    args = parser.parse_args()
    device = torch.device(args.device if args.device else "cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(11)
    x_train, y_train = shapes(384, seed=0)
    x_cal, y_cal = shapes(128, seed=1)
    x_test, y_test = shapes(128, seed=2)

    net = MultiExitNet([8, 12, 16], num_classes=3).to(device)
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    net.train()
    for step in range(args.steps):
        rows = torch.randperm(len(x_train))[: args.batch]
        loss = joint_loss(net(x_train[rows].to(device)), y_train[rows].to(device))
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
    print(f"final train loss {loss.item():.3f}")

    calibrate(net, x_cal, y_cal.numpy(), args.target_acc_drop, device)

    net.eval()
    with timed("all exits"), torch.no_grad():
        full_pred = net(x_test.to(device))[-1].argmax(-1)
    with timed("early exit"):
        result = net.predict(x_test.to(device))
    print(f"full accuracy  {(full_pred.cpu() == y_test).float().mean():.3f}")
    print(f"early accuracy {(result.probs.argmax(-1).cpu() == y_test).float().mean():.3f}")
    print("exits", dict(sorted(Counter(result.exit_at.tolist()).items())))


if __name__ == "__main__":
    main()
