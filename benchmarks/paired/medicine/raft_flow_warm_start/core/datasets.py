import numpy as np
import torch
from scipy.ndimage import gaussian_filter, shift
from torch.utils.data import DataLoader, Dataset


class SequenceDataset(Dataset):
    """Films of a textured plane that glides with constant speed."""

    def __init__(self, n, length, size, seed):
        self.n, self.length, self.size, self.seed = n, length, tuple(size), seed

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i >= self.n:
            raise IndexError(i)
        rng = np.random.default_rng(self.seed + i)
        base = gaussian_filter(rng.uniform(0, 255, (3, *self.size)), (0, 1.5, 1.5))
        v = rng.uniform(-2, 2, 2)
        frames = [torch.from_numpy(shift(base, (0, v[1] * t, v[0] * t), order=1, mode="wrap")).float()
                  for t in range(self.length)]
        flow = torch.tensor(v, dtype=torch.float32).view(2, 1, 1).expand(2, *self.size)
        return [(frames[t], frames[t + 1], flow) for t in range(self.length - 1)]


class PairDataset(SequenceDataset):
    def __init__(self, n, size, seed):
        super().__init__(n, 2, size, seed)

    def __getitem__(self, i):
        image1, image2, flow = super().__getitem__(i)[0]
        h, w = self.size[0] // 4 * 4, self.size[1] // 4 * 4
        valid = torch.ones(h, w)
        return image1[:, :h, :w], image2[:, :h, :w], flow[:, :h, :w].contiguous(), valid


def fetch_dataloader(args):
    return DataLoader(PairDataset(6, args.image_size, 5), batch_size=args.batch_size, shuffle=True, drop_last=True)
