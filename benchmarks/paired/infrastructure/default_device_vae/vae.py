import math
import os

import torch
from torch import nn
from torch.distributions import Normal, kl_divergence
from torch.utils.data import DataLoader, Dataset, random_split

# everything below is created where the default device says
device = os.environ.get("VAE_DEVICE") or ("cuda" if torch.cuda.is_available() else "cpu")
torch.set_default_device(device)
torch.manual_seed(1234)

LATENT = 4
BATCH = 32
EPOCHS = 3


class Waves(Dataset):
    """Sinusoids of random amplitude, frequency and phase, sampled on a grid."""

    def __init__(self, n=256, length=24):
        t = torch.linspace(0, 1, length)
        amp = 0.5 + torch.rand(n, 1)
        freq = 1 + 2 * torch.rand(n, 1)
        phase = 2 * math.pi * torch.rand(n, 1)
        self.x = amp * torch.sin(2 * math.pi * freq * t + phase)
        self.x += 0.02 * torch.randn_like(self.x)

    def __len__(self):
        return self.x.shape[0]

    def __getitem__(self, i):
        return self.x[i]


class VAE(nn.Module):
    def __init__(self, length=24, hidden=48, latent=LATENT):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(length, hidden), nn.GELU(), nn.Linear(hidden, 2 * latent))
        self.dec = nn.Sequential(nn.Linear(latent, hidden), nn.GELU(), nn.Linear(hidden, length))
        self.log_sigma = nn.Parameter(torch.tensor(-1.0))

    def posterior(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=-1)
        return Normal(mu, torch.exp(0.5 * logvar))

    def forward(self, x):
        q = self.posterior(x)
        z = q.rsample()
        p = Normal(self.dec(z), self.log_sigma.exp())
        prior = Normal(torch.zeros_like(z), torch.ones_like(z))
        return p.log_prob(x).sum(-1), kl_divergence(q, prior).sum(-1)

    @torch.no_grad()
    def sample(self, n):
        return self.dec(torch.randn(n, LATENT))


class KLWarmup:
    def __init__(self, total):
        self.total, self.t = total, 0

    def __call__(self):
        self.t += 1
        return min(1.0, self.t / self.total)


def run_epoch(model, loader, opt=None, beta=lambda: 1.0):
    model.train(opt is not None)
    elbo_sum, n = 0.0, 0
    with torch.set_grad_enabled(opt is not None):
        for x in loader:
            rec, kl = model(x)
            loss = (beta() * kl - rec).mean()
            if opt is not None:
                opt.zero_grad()
                loss.backward()
                opt.step()
            elbo_sum += (rec - kl).sum().item()
            n += len(x)
    return elbo_sum / n


def main():
    data = Waves()
    gen = torch.Generator(device=device).manual_seed(5)
    train_set, val_set = random_split(data, [192, 64], generator=gen)
    train_loader = DataLoader(train_set, batch_size=BATCH, shuffle=True, generator=gen)
    val_loader = DataLoader(val_set, batch_size=64)

    model = VAE()
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    warmup = KLWarmup(2 * len(train_loader))
    for epoch in range(EPOCHS):
        tr = run_epoch(model, train_loader, opt, warmup)
        va = run_epoch(model, val_loader)
        print(f"[{epoch}] elbo train {tr:8.3f}  val {va:8.3f}  sigma {model.log_sigma.exp().item():.3f}")
    s = model.sample(8)
    print("samples", tuple(s.shape), s.device, f"std {s.std().item():.3f}")


if __name__ == "__main__":
    main()
