"""DeepHit (single risk) for right-censored data, simulated cohort.

Loss = NLL of the discrete time distribution + alpha * pairwise ranking loss.
"""
import os
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
DEVICE = torch.device("cuda:0") if torch.cuda.is_available() else torch.device("cpu")

N_PATIENTS = 240
N_COVARIATES = 8
NUM_BINS = 10
BATCH = 48
EPOCHS = 4
ALPHA = 0.2
SIGMA = 0.1


def seed_all(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def simulate():
    """Weibull event times, uniform administrative censoring."""
    x = np.random.randn(N_PATIENTS, N_COVARIATES).astype("float32")
    beta = np.array([0.8, -0.6, 0.4] + [0.0] * (N_COVARIATES - 3))
    scale = np.exp(-(x @ beta) / 1.5)
    t_event = scale * np.random.weibull(1.5, N_PATIENTS)
    t_cens = np.random.uniform(0.2, 3.0, N_PATIENTS)
    time = np.minimum(t_event, t_cens)
    event = (t_event <= t_cens).astype("int64")
    return x, time, event


def discretise(time, event):
    edges = np.quantile(time[event == 1], np.linspace(0, 1, NUM_BINS))
    idx = np.clip(np.searchsorted(edges, time, side="left"), 0, NUM_BINS - 1)
    return idx.astype("int64"), edges


class DeepHit(nn.Module):
    def __init__(self, in_dim, hidden=32, p=0.1):
        super().__init__()
        self.shared = nn.Sequential(
            nn.Linear(in_dim, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Dropout(p))
        self.cause = nn.Sequential(
            nn.Linear(hidden + in_dim, hidden), nn.ReLU(), nn.Dropout(p))
        self.head = nn.Linear(hidden, NUM_BINS)

    def forward(self, x):
        h = self.shared(x)
        h = self.cause(torch.cat([h, x], dim=-1))
        return F.softmax(self.head(h), dim=-1)


def nll(pmf, idx, event):
    bins = torch.arange(NUM_BINS, device=pmf.device)
    after = (bins.unsqueeze(0) > idx.unsqueeze(1)).float()
    p_event = pmf.gather(1, idx.unsqueeze(1)).squeeze(1)
    p_surv = (pmf * after).sum(1)
    ll = event * torch.log(p_event + 1e-7) + (1 - event) * torch.log(p_surv + 1e-7)
    return -ll.mean()


def ranking(pmf, idx, event):
    cif = pmf.cumsum(1)
    # r[i, j] = F_j(t_i)
    r = cif[:, idx].t()
    diff = torch.diagonal(r).unsqueeze(1) - r
    comparable = (idx.unsqueeze(1) < idx.unsqueeze(0)) & (event.unsqueeze(1) == 1)
    eta = torch.exp(-diff / SIGMA)
    return (comparable.float() * eta).sum() / comparable.sum().clamp(min=1)


def c_index(risk, time, event):
    conc, total = 0.0, 0
    for i in np.flatnonzero(event):
        later = time > time[i]
        total += later.sum()
        conc += (risk[i] > risk[later]).sum() + 0.5 * (risk[i] == risk[later]).sum()
    return conc / max(total, 1)


def run_epoch(model, opt, x, idx, event):
    model.train()
    perm = torch.randperm(len(x), device=DEVICE)
    losses = []
    for chunk in perm.split(BATCH):
        pmf = model(x[chunk])
        loss = nll(pmf, idx[chunk], event[chunk]) + ALPHA * ranking(pmf, idx[chunk], event[chunk])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return float(np.mean(losses))


if __name__ == "__main__":
    seed_all(11)
    x, time, event = simulate()
    idx, edges = discretise(time, event)
    n_tr = int(0.8 * N_PATIENTS)
    print("events: %d / %d" % (event.sum(), N_PATIENTS))

    mu, sd = x[:n_tr].mean(0), x[:n_tr].std(0)
    xt = torch.tensor((x - mu) / sd, device=DEVICE)
    idxt = torch.tensor(idx, device=DEVICE)
    evt = torch.tensor(event, device=DEVICE)

    model = DeepHit(N_COVARIATES).to(DEVICE)
    opt = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=1e-4)

    for epoch in range(EPOCHS):
        loss = run_epoch(model, opt, xt[:n_tr], idxt[:n_tr], evt[:n_tr])
        model.eval()
        with torch.no_grad():
            pmf = model(xt[n_tr:])
            val = nll(pmf, idxt[n_tr:], evt[n_tr:]).item()
            expected = (pmf * torch.arange(NUM_BINS, device=DEVICE)).sum(1)
        c = c_index(-expected.cpu().numpy(), time[n_tr:], event[n_tr:])
        print("epoch %d  train %.4f  val nll %.4f  C-index %.3f" % (epoch, loss, val, c))
