import random

from torch.utils.data import Dataset


class SyntheticAds(Dataset):
    """Counters and multi-hot categories with some signal in both."""

    def __init__(self, n, n_dense, table_sizes, seed=0):
        rnd = random.Random(seed)
        effect = [[rnd.gauss(0, 1) for _ in range(size)] for size in table_sizes]
        self.rows = []
        for _ in range(n):
            dense = [rnd.expovariate(0.5) for _ in range(n_dense)]
            bags = [[rnd.randrange(size) for _ in range(rnd.randint(1, 4))] for size in table_sizes]
            score = sum(sum(e[i] for i in b) / len(b) for e, b in zip(effect, bags)) + 0.2 * (dense[0] - 2)
            self.rows.append((dense, bags, float(score + rnd.gauss(0, 0.3) > 0)))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]
