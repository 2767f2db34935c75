"""Real NVP on the two moons data set, following the minimal tutorial implementation."""
import numpy as np
import torch
from sklearn import datasets
from torch import distributions, nn


def build_nets(hidden=32):
    nets = lambda: nn.Sequential(
        nn.Linear(2, hidden), nn.LeakyReLU(),
        nn.Linear(hidden, hidden), nn.LeakyReLU(),
        nn.Linear(hidden, 2), nn.Tanh())
    nett = lambda: nn.Sequential(
        nn.Linear(2, hidden), nn.LeakyReLU(),
        nn.Linear(hidden, hidden), nn.LeakyReLU(),
        nn.Linear(hidden, 2))
    return nets, nett


class RealNVP(nn.Module):
    def __init__(self, nets, nett, masks, prior):
        super(RealNVP, self).__init__()
        self.prior = prior
        self.mask = nn.Parameter(masks, requires_grad=False)
        self.t = torch.nn.ModuleList([nett() for _ in range(len(masks))])
        self.s = torch.nn.ModuleList([nets() for _ in range(len(masks))])

    def g(self, z):
        x = z
        for i in range(len(self.t)):
            x_ = x * self.mask[i]
            s = self.s[i](x_) * (1 - self.mask[i])
            t = self.t[i](x_) * (1 - self.mask[i])
            x = x_ + (1 - self.mask[i]) * (x * torch.exp(s) + t)
        return x

    def f(self, x):
        log_det_J, z = x.new_zeros(x.shape[0]), x
        for i in reversed(range(len(self.t))):
            z_ = self.mask[i] * z
            s = self.s[i](z_) * (1 - self.mask[i])
            t = self.t[i](z_) * (1 - self.mask[i])
            z = (1 - self.mask[i]) * (z - t) * torch.exp(-s) + z_
            log_det_J -= s.sum(dim=1)
        return z, log_det_J

    def log_prob(self, x):
        z, logp = self.f(x)
        return self.prior.log_prob(z) + logp

    def sample(self, batchSize):
        z = self.prior.sample((batchSize,))
        return self.g(z)


def moons(n, rng):
    xy, _ = datasets.make_moons(n, noise=.05, random_state=rng)
    return xy.astype(np.float32)


def main():
    torch.manual_seed(3)
    rng = np.random.RandomState(3)
    if torch.cuda.is_available():
        dev = torch.device("cuda")
    else:
        dev = torch.device("cpu")

    masks = torch.from_numpy(np.array([[0, 1], [1, 0]] * 3).astype(np.float32))
    nets, nett = build_nets()
    prior = distributions.MultivariateNormal(
        torch.zeros(2, device=dev), torch.eye(2, device=dev))
    flow = RealNVP(nets, nett, masks, prior).to(dev)

    trainable = [p for p in flow.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trainable, lr=1e-3)
    print("trainable parameters:", sum(p.numel() for p in trainable))

    for it in range(21):
        batch = torch.from_numpy(moons(64, rng)).to(dev)
        loss = -flow.log_prob(batch).mean()
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        torch.nn.utils.clip_grad_norm_(trainable, 5.0)
        optimizer.step()
        if it % 10 == 0:
            print("iter %s:" % it, "loss = %.3f" % loss.item())

    flow.eval()
    with torch.no_grad():
        x = flow.sample(200).cpu().numpy()
        z = flow.f(torch.from_numpy(moons(200, rng)).to(dev))[0].cpu().numpy()
        holdout = flow.log_prob(torch.from_numpy(moons(100, rng)).to(dev)).mean().item()
    print("sample mean", x.mean(0).round(3), "std", x.std(0).round(3))
    print("latent mean", z.mean(0).round(3), "std", z.std(0).round(3))
    print("held out log-likelihood %.3f" % holdout)


if __name__ == "__main__":
    main()
