"""Vectorised multiplicative exponential smoothing, written as pure functions."""
import torch


def init_params(n_series, period, hidden, horizon, window, seed):
    g = torch.Generator().manual_seed(seed)

    def randn(*shape, scale):
        return (scale * torch.randn(*shape, generator=g)).requires_grad_()

    return {
        "alpha": torch.zeros(n_series, requires_grad=True),
        "gamma": torch.full((n_series,), -1.0, requires_grad=True),
        "season": torch.zeros(n_series, period, requires_grad=True),
        "w1": randn(window, hidden, scale=window ** -0.5),
        "b1": torch.zeros(hidden, requires_grad=True),
        "w2": randn(hidden, horizon, scale=0.1 * hidden ** -0.5),
        "b2": torch.zeros(horizon, requires_grad=True),
    }


def smooth(p, y):
    """Returns levels (S, T) and seasonal factors (S, T + period)."""
    alpha, gamma = torch.sigmoid(p["alpha"]), torch.sigmoid(p["gamma"])
    seasons = list(torch.exp(p["season"]).unbind(1))
    level = y[:, 0] / seasons[0]
    levels = []
    for t in range(y.size(1)):
        level = alpha * y[:, t] / seasons[t] + (1 - alpha) * level
        seasons.append(gamma * y[:, t] / level + (1 - gamma) * seasons[t])
        levels.append(level)
    return torch.stack(levels, 1), torch.stack(seasons, 1)


def residual_net(p, x):
    return torch.tanh(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]


def forecast(p, y, window, horizon):
    levels, seasons = smooth(p, y)
    x = torch.log(y[:, -window:] / (levels[:, -1:] * seasons[:, y.size(1) - window:y.size(1)]))
    future = seasons[:, y.size(1):y.size(1) + horizon]
    return levels[:, -1:] * future * torch.exp(residual_net(p, x))


def level_wiggliness(levels):
    d = torch.log(levels[:, 1:] / levels[:, :-1])
    return (d[:, 1:] - d[:, :-1]).pow(2).mean()
