import random

import torch
import torch.nn as nn


class DiffusionConv(nn.Module):
    def __init__(self, in_dim, out_dim, num_supports, bias=0.0):
        super().__init__()
        self.lin = nn.Linear(in_dim * (num_supports + 1), out_dim)
        nn.init.constant_(self.lin.bias, bias)

    def forward(self, x, supports):
        hops = [x] + [torch.einsum("nm,bmf->bnf", s, x) for s in supports]
        return self.lin(torch.cat(hops, dim=-1))


class DCGRUCell(nn.Module):
    def __init__(self, in_dim, hidden, num_supports):
        super().__init__()
        self.gates = DiffusionConv(in_dim + hidden, 2 * hidden, num_supports, bias=1.0)
        self.cand = DiffusionConv(in_dim + hidden, hidden, num_supports)

    def forward(self, x, h, supports):
        r, u = torch.sigmoid(self.gates(torch.cat([x, h], -1), supports)).chunk(2, -1)
        c = torch.tanh(self.cand(torch.cat([x, r * h], -1), supports))
        return u * h + (1 - u) * c


class DCRNN(nn.Module):
    """Encoder-decoder with scheduled sampling; supports are given by the caller."""

    def __init__(self, in_dim, hidden, horizon, num_supports):
        super().__init__()
        self.hidden, self.horizon = hidden, horizon
        self.encoder = DCGRUCell(in_dim, hidden, num_supports)
        self.decoder = DCGRUCell(1, hidden, num_supports)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, supports, labels=None, teacher_ratio=0.0):
        b, t, n, _ = x.shape
        h = x.new_zeros(b, n, self.hidden)
        for k in range(t):
            h = self.encoder(x[:, k], h, supports)
        step, preds = x.new_zeros(b, n, 1), []
        for k in range(self.horizon):
            h = self.decoder(step, h, supports)
            step = self.out(h)
            preds.append(step.squeeze(-1))
            if labels is not None and random.random() < teacher_ratio:
                step = labels[:, k].unsqueeze(-1)
        return torch.stack(preds, dim=1)
