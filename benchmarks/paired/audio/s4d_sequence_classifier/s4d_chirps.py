"""Diagonal state space model (S4D-Lin) on a toy task: which of two chirps came first?"""
import argparse
import math
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--d_model", type=int, default=16)
    p.add_argument("--d_state", type=int, default=8)
    p.add_argument("--n_layers", type=int, default=2)
    p.add_argument("--seq_len", type=int, default=128)
    p.add_argument("--iters", type=int, default=10)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--eval_every", type=int, default=5)
    return p.parse_args()


class S4DKernel(nn.Module):
    """Convolution kernel of a diagonal SSM, by a Vandermonde product."""

    def __init__(self, d_model, n_state, dt_min=1e-3, dt_max=1e-1):
        super().__init__()
        log_dt = torch.rand(d_model) * (math.log(dt_max) - math.log(dt_min)) + math.log(dt_min)
        self.log_dt = nn.Parameter(log_dt)
        self.C = nn.Parameter(torch.randn(d_model, n_state, 2) * 0.5)
        self.log_A_real = nn.Parameter(torch.full((d_model, n_state), math.log(0.5)))
        self.A_imag = nn.Parameter(math.pi * torch.arange(n_state).repeat(d_model, 1).float())
        self._steps = {}

    def steps(self, length):
        """0 .. L-1, kept because bucketed batches ask for the same few lengths."""
        ref = self.log_dt
        key = (length, ref.device)
        if key not in self._steps:
            self._steps[key] = torch.arange(length, device=ref.device, dtype=ref.dtype)
        return self._steps[key]

    def discretise(self):
        dt = self.log_dt.exp().unsqueeze(-1)
        A = torch.complex(-self.log_A_real.exp(), self.A_imag)
        dA = A * dt
        C = torch.view_as_complex(self.C) * (dA.exp() - 1.0) / A
        return dA, C

    def forward(self, length):
        dA, C = self.discretise()
        K = dA.unsqueeze(-1) * self.steps(length)
        return 2 * torch.einsum("hn,hnl->hl", C, K.exp()).real


class S4DLayer(nn.Module):
    def __init__(self, d_model, n_state, dropout=0.0):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.kernel = S4DKernel(d_model, n_state)
        self.D = nn.Parameter(torch.randn(d_model))
        self.mix = nn.Sequential(nn.GELU(), nn.Dropout(dropout), nn.Linear(d_model, 2 * d_model), nn.GLU())

    def forward(self, x):
        u = self.norm(x).transpose(1, 2)
        L = u.size(-1)
        k_f = torch.fft.rfft(self.kernel(L), n=2 * L)
        u_f = torch.fft.rfft(u, n=2 * L)
        y = torch.fft.irfft(u_f * k_f, n=2 * L)[..., :L]
        y = y + u * self.D.unsqueeze(-1)
        return x + self.mix(y.transpose(1, 2))

    # recurrent mode
    def initial_state(self, batch):
        dA, C = self.kernel.discretise()
        return torch.zeros(batch, *C.shape, dtype=C.dtype, device=C.device)

    def step(self, x, state):
        u = self.norm(x)
        dA, C = self.kernel.discretise()
        state = dA.exp() * state + u.unsqueeze(-1)
        y = 2 * (C * state).sum(-1).real + u * self.D
        return x + self.mix(y), state


class S4DClassifier(nn.Module):
    def __init__(self, n_out, cfg):
        super().__init__()
        self.inp = nn.Linear(1, cfg.d_model)
        self.layers = nn.ModuleList([S4DLayer(cfg.d_model, cfg.d_state) for _ in range(cfg.n_layers)])
        self.head = nn.Linear(cfg.d_model, n_out)

    def forward(self, x):
        h = self.inp(x)
        for layer in self.layers:
            h = layer(h)
        return self.head(h.mean(1))

    @torch.no_grad()
    def stream(self, x):
        """Sample by sample, as on the microcontroller."""
        states = [layer.initial_state(x.size(0)) for layer in self.layers]
        total = 0.0
        for t in range(x.size(1)):
            h = self.inp(x[:, t])
            for i, layer in enumerate(self.layers):
                h, states[i] = layer.step(h, states[i])
            total = total + h
        return self.head(total / x.size(1))


def chirp_pairs(batch, length, generator):
    t = torch.linspace(0, 1, length // 2)
    up = torch.sin(2 * math.pi * (2 + 10 * t) * t)
    down = up.flip(0)
    label = torch.randint(2, (batch,), generator=generator)
    first = torch.where(label.bool().unsqueeze(1), up, down)
    second = torch.where(label.bool().unsqueeze(1), down, up)
    x = torch.cat([first, second], 1) + 0.3 * torch.randn(batch, 2 * (length // 2), generator=generator)
    return x.unsqueeze(-1), label


def summarize(model, length):
    """Shapes and parameter counts, from a dry run."""
    rows, hooks = [], []
    for name, m in model.named_children():
        for sub in (m if isinstance(m, nn.ModuleList) else [m]):
            n = sum(p.numel() for p in sub.parameters())
            hooks.append(sub.register_forward_hook(
                lambda _, __, out, name=name, n=n: rows.append((name, tuple(out.shape), n))))
    with torch.no_grad():
        model(torch.zeros(1, length, 1))
    for h in hooks:
        h.remove()
    return "\n".join(f"{a:8s} {str(b):16s} {c:6d}" for a, b, c in rows)


def make_optimizer(model, lr):
    ssm = [p for n, p in model.named_parameters() if ".kernel." in n]
    rest = [p for n, p in model.named_parameters() if ".kernel." not in n]
    return torch.optim.AdamW([{"params": ssm, "lr": lr / 5, "weight_decay": 0.0},
                              {"params": rest, "lr": lr, "weight_decay": 0.01}])


@torch.no_grad()
def evaluate(model, batches, device):
    model.eval()
    hits = n = 0
    for x, y in batches:
        pred = model(x.to(device)).argmax(-1).cpu()
        hits += (pred == y).sum().item()
        n += len(y)
    model.train()
    return hits / n


def main():
    cfg = parse()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    g = torch.Generator().manual_seed(1)
    model = S4DClassifier(2, cfg)
    print(summarize(model, cfg.seq_len))

    model = model.to(device)
    optimizer = make_optimizer(model, cfg.lr)
    val = [chirp_pairs(16, n, g) for n in (cfg.seq_len, cfg.seq_len // 2)]
    for it in range(1, cfg.iters + 1):
        length = cfg.seq_len if it % 2 else cfg.seq_len // 2
        x, y = chirp_pairs(cfg.batch, length, g)
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % cfg.eval_every == 0:
            print(f"iter {it} loss {loss.item():.3f} val acc {evaluate(model, val, device):.2f}")

    model.to("cpu").eval()
    x, _ = val[1]
    t0 = time.perf_counter()
    gap = (model.stream(x) - model(x)).abs().max().item()
    print(f"stream against convolution: {gap:.1e} in {time.perf_counter() - t0:.2f}s")


if __name__ == "__main__":
    main()
