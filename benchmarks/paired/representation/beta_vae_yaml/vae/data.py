import torch
from torch.utils.data import DataLoader, Dataset, random_split


class Squares(Dataset):
    """White squares on black, sparse: about one pixel in ten is on."""

    def __init__(self, n: int, size: int) -> None:
        self.images = torch.zeros(n, 1, size, size)
        for img in self.images:
            side = int(torch.randint(3, 7, ()))
            top, left = torch.randint(0, size - side, (2,)).tolist()
            img[:, top:top + side, left:left + side] = 1.0

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, i: int) -> torch.Tensor:
        return self.images[i]

    def pixel_frequency(self) -> torch.Tensor:
        return self.images.mean(0)


def make_loaders(cfg: dict):
    full = Squares(cfg["n"], cfg["size"])
    n_val = cfg["n"] // 5
    train, val = random_split(full, [cfg["n"] - n_val, n_val])
    return (
        DataLoader(train, cfg["batch_size"], shuffle=True),
        DataLoader(val, cfg["batch_size"]),
        full.pixel_frequency(),
    )
