import torch
from torch.utils.data import DataLoader, TensorDataset


def make_loader(n, n_class, batch_size, train, seed):
    g = torch.Generator()
    g.manual_seed(seed)
    target = torch.randint(0, n_class, (n,), generator=g)
    images = torch.randn(n, 3, 16, 16, generator=g) * 0.5
    for k in range(n_class):
        images[target == k, k % 3, :, 2 * k:2 * k + 3] += 1.5
    return DataLoader(TensorDataset(images, target), batch_size=batch_size, shuffle=train)
