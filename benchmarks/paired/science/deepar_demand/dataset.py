import numpy as np
import pandas as pd
import torch
from torch.utils.data import Dataset


def make_demand(params):
    rng = np.random.default_rng(params.seed)
    rows = []
    weeks = pd.date_range('2018-01-07', periods=params.n_weeks, freq='W')
    for item in range(params.n_items):
        level = rng.lognormal(2.0, 0.6)
        phase = rng.uniform(0, 2 * np.pi)
        rate = level * (1 + 0.4 * np.sin(2 * np.pi * np.arange(params.n_weeks) / 26 + phase))
        rows.append(pd.DataFrame({'item': item, 'week': weeks, 'units': rng.poisson(rate)}))
    df = pd.concat(rows, ignore_index=True)
    df['age'] = df.groupby('item').cumcount() / params.n_weeks
    df['woy'] = df['week'].dt.isocalendar().week.astype(int) / 52.0
    return df


class DemandWindows(Dataset):
    """(item id, lagged target, covariates, target) windows of all items."""

    def __init__(self, df, params, test=False):
        self.samples = []
        size = params.context + params.horizon
        for item, g in df.groupby('item'):
            units = torch.tensor(g['units'].values, dtype=torch.float32)
            cov = torch.tensor(g[['age', 'woy']].values, dtype=torch.float32)
            last = len(g) - size
            starts = [last] if test else range(1, last - params.horizon, 4)
            for s in starts:
                y = units[s:s + size]
                lag = units[s - 1:s + size - 1]
                scale = 1 + y[:params.context].mean()
                self.samples.append((item, lag, cov[s:s + size], y, scale))

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        return self.samples[i]
