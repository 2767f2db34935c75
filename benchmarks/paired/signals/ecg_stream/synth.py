import numpy as np


def beat(t, wide=False):
    """One heart beat around t=0 (seconds): P, QRS and T waves."""
    s = 2.6 if wide else 1.0
    p = 0.0 if wide else 0.15 * np.exp(-((t + 0.16) ** 2) / (2 * 0.02**2))
    qrs = 1.2 * np.exp(-(t**2) / (2 * (0.012 * s) ** 2))
    q = -0.25 * np.exp(-((t + 0.03 * s) ** 2) / (2 * (0.01 * s) ** 2))
    tw = (-0.3 if wide else 0.3) * np.exp(-((t - 0.26) ** 2) / (2 * 0.05**2))
    return p + q + qrs + tw


def windows(n, length, rate, rng):
    t = (np.arange(length) - length / 2) / rate
    y = rng.integers(0, 2, n)
    x = np.stack([beat(t - rng.uniform(-0.2, 0.2), bool(k)) for k in y])
    x += 0.05 * rng.standard_normal(x.shape)
    return x.astype(np.float32), y.astype(np.int64)


def record(seconds, rate, rng):
    """A continuous record and the times of its beats."""
    n = int(seconds * rate)
    t = np.arange(n) / rate
    x = 0.05 * rng.standard_normal(n)
    events, now = [], 0.7
    while now < seconds - 0.5:
        wide = rng.random() < 0.3
        x += beat(t - now, wide)
        events.append((now, wide))
        now += rng.uniform(0.9, 1.3)
    return x.astype(np.float32), events
