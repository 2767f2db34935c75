import torch
from torch.utils.data import Dataset


def jitter_and_flip(img):
    if torch.rand(()) < 0.5:
        img = img.flip(2)
    return img * (0.8 + 0.4 * torch.rand(3, 1, 1)) + 0.05 * torch.randn_like(img)


class ColorPatches(Dataset):
    def __init__(self, n, num_classes, transform=None, seed=0):
        g = torch.Generator().manual_seed(123)
        self.palette = torch.rand(num_classes, 3, 2, 2, generator=g)
        g.manual_seed(seed)
        self.targets = torch.randint(0, num_classes, (n,), generator=g)
        self.transform = transform

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, index):
        img = self.palette[self.targets[index]].repeat_interleave(6, 1).repeat_interleave(6, 2)
        if self.transform is not None:
            img = self.transform(img)
        return img, self.targets[index]
