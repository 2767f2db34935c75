# %% [markdown]
# # Bayesian logistic regression with batched HMC
# All chains run at once; draws go to host memory because long runs are bigger than the GPU.

# %%
import argparse
import math

import numpy as np
import torch
import torch.nn.functional as F

ap = argparse.ArgumentParser()
ap.add_argument("--draws", type=int, default=500)
ap.add_argument("--warmup", type=int, default=200)
ap.add_argument("--chains", type=int, default=4)
ap.add_argument("--leapfrog", type=int, default=8)
ap.add_argument("--seed", type=int, default=0)
opt, _ = ap.parse_known_args()

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(opt.seed)
print("running on", device)

# %% data
rng = np.random.default_rng(opt.seed)
n, d = 150, 4
X_np = np.concatenate([np.ones((n, 1)), rng.normal(size=(n, d - 1))], axis=1)
w_true = np.array([0.3, 1.5, -1.0, 0.0])
y_np = (rng.random(n) < 1 / (1 + np.exp(-X_np @ w_true))).astype(np.float32)

split = int(0.7 * n)
X = torch.tensor(X_np[:split], dtype=torch.float32, device=device)
y = torch.tensor(y_np[:split], device=device)
X_new = torch.tensor(X_np[split:], dtype=torch.float32, device=device)
y_new = y_np[split:]


# %% log posterior
def log_post(w):
    """w: (chains, d) -> (chains,)"""
    logits = w @ X.T
    ll = -F.binary_cross_entropy_with_logits(logits, y.expand_as(logits), reduction="none").sum(-1)
    return ll - 0.5 * (w / 2.5).pow(2).sum(-1)


def value_and_grad(w):
    w = w.detach().requires_grad_()
    lp = log_post(w)
    (g,) = torch.autograd.grad(lp.sum(), w)
    return lp.detach(), g


# %% sampler
class DualAveraging:
    """Nesterov step size adaptation, plain Python floats."""

    def __init__(self, step, target=0.8):
        self.mu, self.target = math.log(10 * step), target
        self.h = self.log_avg = 0.0
        self.t = 0

    def update(self, accept):
        self.t += 1
        eta = 1 / (self.t + 10)
        self.h = (1 - eta) * self.h + eta * (self.target - accept)
        log_step = self.mu - math.sqrt(self.t) / 0.05 * self.h
        w = self.t ** -0.75
        self.log_avg = w * log_step + (1 - w) * self.log_avg
        return math.exp(log_step)

    def final(self):
        return math.exp(self.log_avg)


def hmc_step(w, lp, g, step, n_leap, inv_mass):
    p0 = torch.randn_like(w) / inv_mass.sqrt()
    p, q, grad = p0 + 0.5 * step * g, w, g
    for i in range(n_leap):
        q = q + step * inv_mass * p
        lp_q, grad = value_and_grad(q)
        p = p + (step if i < n_leap - 1 else 0.5 * step) * grad
    energy = lambda m: 0.5 * (m.pow(2) * inv_mass).sum(-1)
    log_alpha = (lp_q - energy(p)) - (lp - energy(p0))
    alpha = log_alpha.nan_to_num(nan=-1e9).clamp(max=0).exp()
    ok = torch.rand_like(alpha) < alpha
    pick = lambda a, b: torch.where(ok.view(-1, *[1] * (a.dim() - 1)), a, b)
    return pick(q, w), pick(lp_q, lp), pick(grad, g), alpha.mean().item()


def sample(warmup, draws):
    w = 0.1 * torch.randn(opt.chains, d, device=device)
    lp, g = value_and_grad(w)
    inv_mass = torch.ones(d, device=device)
    step, tuner = 0.1, DualAveraging(0.1)
    history = []
    trace = torch.empty(draws, opt.chains, d)
    trace_lp = torch.empty(draws, opt.chains)
    for i in range(warmup + draws):
        w, lp, g, acc = hmc_step(w, lp, g, step, opt.leapfrog, inv_mass)
        if i < warmup:
            step = tuner.update(acc)
            history.append(w.cpu())
            if i == warmup // 2 and i > 5:
                inv_mass = torch.cat(history).var(0).clamp(1e-3, 10).to(device)
        else:
            if i == warmup:
                step = tuner.final()
            trace[i - warmup] = w
            trace_lp[i - warmup] = lp
    return trace, trace_lp


trace, trace_lp = sample(opt.warmup, opt.draws)


# %% diagnostics
def split_rhat(x):
    half = x.shape[0] // 2
    z = np.concatenate([x[:half], x[half:2 * half]], axis=1)
    within = z.var(0, ddof=1).mean(0)
    between = half * z.mean(0).var(0, ddof=1)
    return np.sqrt(((half - 1) / half * within + between / half) / within)


rhat = split_rhat(trace.numpy())
for j in range(d):
    col = trace[..., j]
    print(f"w[{j}] mean {col.mean():+.2f} sd {col.std():.2f} true {w_true[j]:+.2f} rhat {rhat[j]:.2f}")

# %% posterior predictive
flat = trace.reshape(-1, d)


@torch.no_grad()
def predictive(x, n_samples, chunk=64):
    idx = torch.randint(len(flat), (n_samples,))
    total = torch.zeros(len(x), device=x.device)
    for part in idx.split(chunk):
        w = flat[part].to(x.device)
        total += torch.sigmoid(w @ x.T).sum(0)
    return total / n_samples


prob = predictive(X_new, 200)
acc = ((prob > 0.5).cpu().numpy() == y_new).mean()
map_w = flat[trace_lp.reshape(-1).argmax()].to(device)
map_acc = ((X_new @ map_w > 0).float().cpu().numpy() == y_new).mean()
print(f"held-out accuracy: averaged {acc:.3f}, best draw {map_acc:.3f}")
