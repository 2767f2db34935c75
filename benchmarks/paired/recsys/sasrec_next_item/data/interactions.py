"""Synthetic click logs with a Markov flavour (items are grouped in genres)."""
from collections import defaultdict

import numpy as np


def synthesize_logs(num_users, num_items, min_len=6, max_len=18, num_genres=6, seed=0):
    rng = np.random.default_rng(seed)
    genre = rng.integers(0, num_genres, size=num_items + 1)
    by_genre = [np.flatnonzero(genre == g) for g in range(num_genres)]
    by_genre = [g[g > 0] for g in by_genre]
    history = defaultdict(list)
    for user in range(1, num_users + 1):
        g = int(rng.integers(num_genres))
        for _ in range(int(rng.integers(min_len, max_len + 1))):
            if rng.random() < 0.25 or len(by_genre[g]) == 0:
                g = (g + 1) % num_genres
            pool = by_genre[g] if len(by_genre[g]) else np.arange(1, num_items + 1)
            history[user].append(int(rng.choice(pool)))
    return dict(history)


def leave_one_out(history):
    train, valid, test = {}, {}, {}
    for user, items in history.items():
        train[user] = items[:-2]
        valid[user] = items[-2]
        test[user] = items[-1]
    return train, valid, test
