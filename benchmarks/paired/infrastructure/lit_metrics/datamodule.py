from typing import Optional

import lightning as L
import torch
from torch.utils.data import DataLoader, TensorDataset


class MoonsDataModule(L.LightningDataModule):
    def __init__(self, n: int = 256, batch_size: int = 32, noise: float = 0.15) -> None:
        super().__init__()
        self.save_hyperparameters()

    def setup(self, stage: Optional[str] = None) -> None:
        gen = torch.Generator().manual_seed(0)
        n = self.hparams.n
        y = torch.randint(0, 3, (n,), generator=gen)
        t = torch.pi * torch.rand(n, generator=gen)
        x = torch.stack([t.cos() + y, torch.where(y % 2 == 0, t.sin(), 0.5 - t.sin())], dim=1)
        x += self.hparams.noise * torch.randn(n, 2, generator=gen)
        cut = int(0.75 * n)
        self.train_set = TensorDataset(x[:cut], y[:cut])
        self.val_set = TensorDataset(x[cut:], y[cut:])

    def train_dataloader(self) -> DataLoader:
        return DataLoader(self.train_set, self.hparams.batch_size, shuffle=True)

    def val_dataloader(self) -> DataLoader:
        return DataLoader(self.val_set, self.hparams.batch_size)
