import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

VOCAB = 100
TASKS = {
    'sst': {'type': 'single', 'n_out': 2},
    'nli': {'type': 'pair', 'n_out': 3},
    'stars': {'type': 'regression', 'n_out': 1},
}


class RandomTask(Dataset):
    def __init__(self, name, n, length=10, seed=0):
        rng = np.random.RandomState(seed)
        self.spec = TASKS[name]
        self.a = rng.randint(1, VOCAB, (n, length))
        self.b = rng.randint(1, VOCAB, (n, length))
        for row in self.a:
            row[rng.randint(length // 2, length + 1):] = 0
        if self.spec['type'] == 'regression':
            self.y = (self.a > VOCAB // 2).mean(1).astype('float32')
        else:
            self.y = self.a[:, 0] % self.spec['n_out']

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        item = {'ids_a': torch.as_tensor(self.a[i]), 'y': torch.as_tensor(self.y[i])}
        if self.spec['type'] == 'pair':
            item['ids_b'] = torch.as_tensor(self.b[i])
        return item


def build_loaders(sizes, batch_size):
    return {name: DataLoader(RandomTask(name, n, seed=i), batch_size=batch_size, shuffle=True)
            for i, (name, n) in enumerate(sizes.items())}
