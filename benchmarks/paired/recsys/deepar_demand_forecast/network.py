import torch
import torch.nn as nn
import torch.nn.functional as F


class GaussianHead(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.proj = nn.Linear(dim, 2)

    def forward(self, h):
        mu, raw = self.proj(h).unbind(-1)
        return mu, F.softplus(raw) + 1e-3


class DeepAR(nn.Module):
    def __init__(self, n_series, n_cov, hidden=24, emb=6):
        super().__init__()
        self.emb = nn.Embedding(n_series, emb)
        self.rnn = nn.LSTM(1 + n_cov + emb, hidden, batch_first=True)
        self.head = GaussianHead(hidden)

    def _inputs(self, lagged, cov, series):
        e = self.emb(series).unsqueeze(1).expand(-1, lagged.size(1), -1)
        return torch.cat([lagged.unsqueeze(-1), cov, e], dim=-1)

    def forward(self, scaled, cov, series):
        x = self._inputs(scaled[:, :-1], cov[:, 1:], series)
        h, state = self.rnn(x)
        return self.head(h), state

    def step(self, last, cov_t, series, state):
        x = self._inputs(last.unsqueeze(1), cov_t.unsqueeze(1), series)
        h, state = self.rnn(x, state)
        mu, sigma = self.head(h[:, 0])
        return mu, sigma, state


def gaussian_nll(mu, sigma, target):
    return (torch.log(sigma) + 0.5 * ((target - mu) / sigma) ** 2).mean()
