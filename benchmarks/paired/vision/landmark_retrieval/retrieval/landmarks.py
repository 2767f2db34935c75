import torch


def make_split(n, n_landmarks=8, size=16, seed=0):
    protos = torch.rand(n_landmarks, 3, size, size, generator=torch.Generator().manual_seed(77))
    g = torch.Generator().manual_seed(seed)
    labels = torch.arange(n) % n_landmarks
    gain = 0.7 + 0.6 * torch.rand(n, 1, 1, 1, generator=g)
    return protos[labels] * gain + 0.15 * torch.randn(n, 3, size, size, generator=g), labels


def batches(split, batch_size, shuffle=False):
    x, y = split
    order = torch.randperm(len(x)) if shuffle else torch.arange(len(x))
    for chunk in order.split(batch_size):
        yield x[chunk], y[chunk]
