import numpy as np
import pandas as pd
import torch
from sklearn.base import BaseEstimator, TransformerMixin
from torch.utils.data import Dataset


def make_transactions(n, seed=0):
    rng = np.random.default_rng(seed)
    df = pd.DataFrame({
        "amount": rng.lognormal(3, 1.1, n),
        "hour": rng.integers(0, 24, n),
        "merchant": rng.choice(list("ABCDEFGH"), n),
        "country": rng.choice(["DE", "FR", "US", "BR", "NG"], n, p=[.35, .25, .2, .12, .08]),
        "age_days": rng.exponential(400, n),
    })
    z = -4.2 + 0.8 * (np.log(df.amount) - 3) + 1.3 * df.hour.between(0, 5) + 1.0 * df.merchant.isin(["C", "G"])
    z += 1.2 * (df.country == "NG") - 0.002 * df.age_days
    df["fraud"] = (rng.random(n) < 1 / (1 + np.exp(-z))).astype(int)
    df.loc[rng.random(n) < 0.03, "age_days"] = np.nan
    return df


class TableEncoder(BaseEstimator, TransformerMixin):
    def __init__(self, numeric, categorical):
        self.numeric, self.categorical = numeric, categorical

    def fit(self, df, y=None):
        self.median_ = df[self.numeric].median()
        filled = np.log1p(df[self.numeric].fillna(self.median_))
        self.mean_, self.std_ = filled.mean(), filled.std()
        self.levels_ = {c: {v: i + 1 for i, v in enumerate(sorted(df[c].unique()))} for c in self.categorical}
        return self

    def transform(self, df):
        num = ((np.log1p(df[self.numeric].fillna(self.median_)) - self.mean_) / self.std_).to_numpy("float32")
        cat = np.stack([df[c].map(self.levels_[c]).fillna(0).to_numpy("int64") for c in self.categorical], 1)
        return num, cat

    @property
    def cardinalities(self):
        return [len(v) + 1 for v in self.levels_.values()]


class TableDataset(Dataset):
    def __init__(self, num, cat, y):
        self.num, self.cat, self.y = torch.from_numpy(num), torch.from_numpy(cat), torch.as_tensor(y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"num": self.num[i], "cat": self.cat[i], "y": self.y[i]}
