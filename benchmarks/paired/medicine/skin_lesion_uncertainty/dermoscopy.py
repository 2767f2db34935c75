import torch
from torch.utils.data import DataLoader, Dataset


class SyntheticDermoscopy(Dataset):
    def __init__(self, n, size, n_classes, seed):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(n_classes, (n,), generator=g)
        yy, xx = torch.meshgrid(torch.linspace(-1, 1, size), torch.linspace(-1, 1, size), indexing="ij")
        images = []
        for y in self.labels.tolist():
            cx, cy = (torch.rand(2, generator=g) - 0.5).tolist()
            r = ((xx - cx) ** 2 + (yy - cy) ** 2).sqrt()
            angle = torch.atan2(yy - cy, xx - cx)
            border = 0.5 + 0.12 * y * torch.sin((2 + 2 * y) * angle)
            lesion = torch.sigmoid((border - r) * 10)
            tint = torch.tensor([0.3 + 0.2 * y, 0.4, 0.5 - 0.1 * y]).view(3, 1, 1)
            images.append(0.8 - lesion * tint + 0.15 * torch.randn(3, size, size, generator=g))
        self.images = torch.stack(images)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.images[i], self.labels[i]


def loaders(cfg):
    d, k = cfg.data, len(cfg.classes)
    parts = [("train", d.n_train), ("calib", d.n_calib), ("test", d.n_test)]
    return {
        name: DataLoader(SyntheticDermoscopy(n, d.size, k, cfg.seed + i), batch_size=d.batch_size, shuffle=name == "train")
        for i, (name, n) in enumerate(parts)
    }
