import numpy as np


def monthly_panel(n_series, years, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(12 * years)
    growth = np.exp(np.cumsum(rng.normal(0.004, 0.01, (n_series, len(t))), axis=1))
    factors = np.exp(rng.normal(0, 0.35, (n_series, 12)))
    season = factors[:, t % 12]
    scale = rng.lognormal(5, 1, (n_series, 1))
    return (scale * growth * season * np.exp(rng.normal(0, 0.03, growth.shape))).astype("float32")


def smape(actual, pred):
    return float(200 * np.mean(np.abs(actual - pred) / (np.abs(actual) + np.abs(pred))))


def mase(actual, pred, history, period=12):
    naive = np.abs(history[:, period:] - history[:, :-period]).mean(1, keepdims=True)
    return float(np.mean(np.abs(actual - pred) / naive))


def seasonal_naive(history, horizon, period=12):
    return history[:, -period:][:, np.arange(horizon) % period]
