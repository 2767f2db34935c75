import torch as t
from torch.utils.data import TensorDataset, DataLoader


def quadrant_images(n, im_sz):
    y = t.randint(0, 4, (n,))
    x = t.full((n, 1, im_sz, im_sz), -1.)
    h = im_sz // 2
    for i in range(n):
        r, c = divmod(int(y[i]), 2)
        x[i, :, r * h:(r + 1) * h, c * h:(c + 1) * h] = 1.
    return x + .03 * t.randn_like(x), y


def cycle(loader):
    while True:
        for data in loader:
            yield data


def get_data(args):
    x, y = quadrant_images(args.n_data, args.im_sz)
    n_lab = args.n_data // 4
    dload_train = DataLoader(TensorDataset(x, y), args.batch_size, shuffle=True, drop_last=True)
    dload_labeled = cycle(DataLoader(TensorDataset(x[:n_lab], y[:n_lab]), args.batch_size, shuffle=True, drop_last=True))
    dload_valid = DataLoader(TensorDataset(*quadrant_images(64, args.im_sz)), 32)
    return dload_train, dload_labeled, dload_valid
