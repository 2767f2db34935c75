import numpy as np
import pandas as pd
import torch
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import LabelEncoder, StandardScaler
from torch.utils.data import Dataset

import config


def load_frame():
    rng = np.random.RandomState(config.SEED)
    n = config.N_ROWS
    df = pd.DataFrame({
        "contract": rng.choice(["month", "year", "two_year"], n, p=[.55, .25, .2]),
        "payment": rng.choice(["card", "check", "transfer", "cash"], n),
        "internet": rng.choice(["dsl", "fiber", "none"], n),
        "tenure": rng.exponential(24, n).round(),
        "monthly": rng.normal(65, 25, n).clip(15),
        "tickets": rng.poisson(1.2, n),
    })
    score = ((df.contract == "month") * 1.2 + (df.internet == "fiber") * .6
             + .5 * df.tickets - .04 * df.tenure + rng.normal(0, .7, n))
    df["segment"] = np.digitize(score, [1.2, 2.2])
    df.loc[rng.rand(n) < .05, "monthly"] = np.nan
    return df


class TabularDataset(Dataset):
    def __init__(self, cats, nums, y):
        self.cats = cats.astype(np.int64)
        self.nums = nums.astype(np.float32)
        self.y = y.astype(np.int64)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, idx):
        return self.cats[idx], self.nums[idx], self.y[idx]


def prepare():
    df = load_frame()
    df["monthly"] = df["monthly"].fillna(df["monthly"].median())
    sizes = []
    for c in config.CAT_COLS:
        df[c] = LabelEncoder().fit_transform(df[c])
        sizes.append(int(df[c].nunique()))
    train, valid = train_test_split(df, test_size=.25, stratify=df[config.TARGET],
                                    random_state=config.SEED)
    sc = StandardScaler().fit(train[config.NUM_COLS])
    sets = [TabularDataset(d[config.CAT_COLS].values, sc.transform(d[config.NUM_COLS]),
                           d[config.TARGET].values) for d in (train, valid)]
    return sets[0], sets[1], sizes


def class_weights(y):
    counts = np.bincount(y, minlength=len(config.CLASS_NAMES))
    w = counts.sum() / (len(counts) * np.maximum(counts, 1))
    return torch.tensor(w, dtype=torch.float)
