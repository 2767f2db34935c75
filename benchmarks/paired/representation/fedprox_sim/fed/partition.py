import numpy as np


def dirichlet_split(labels, n_clients, alpha, rng):
    """Label-skewed split, as in Hsu et al. 2019."""
    parts = [[] for _ in range(n_clients)]
    for c in np.unique(labels):
        idx = np.flatnonzero(labels == c)
        rng.shuffle(idx)
        shares = rng.dirichlet([alpha] * n_clients)
        cuts = (np.cumsum(shares)[:-1] * len(idx)).astype(int)
        for part, chunk in zip(parts, np.split(idx, cuts)):
            part.extend(chunk.tolist())
    return [np.array(sorted(p), dtype=np.int64) for p in parts]
