import torch
from torch import nn

from heads import PrototypeHead
from towers import AudioTower, VideoTower


class AudioVideoSystem(nn.Module):
    def __init__(self, cfg, device):
        super().__init__()
        self.audio = AudioTower(dim=cfg.dim).to(device)
        self.video = VideoTower(dim=cfg.dim).to(device)
        self.head = PrototypeHead(cfg.dim, cfg.prototypes, device=device)
        self.device = device

    def parameter_groups(self, cfg):
        decay, plain = [], []
        for name, p in self.named_parameters():
            (plain if p.ndim == 1 or "prototypes" in name else decay).append(p)
        return [
            {"params": decay, "weight_decay": cfg.weight_decay},
            {"params": plain, "weight_decay": 0.0},
        ]

    def forward(self, batch):
        spec, clip = (t.to(self.device) for t in batch)
        return self.head(self.audio(spec)), self.head(self.video(clip))

    def training_step(self, batch):
        return self.head.swapped_loss(*self(batch))


class ClipFactory:
    """Audio and video of the same hidden event type."""

    def __init__(self, n_events=4, seed=0):
        self.g = torch.Generator().manual_seed(seed)
        self.spectra = torch.randn(n_events, 16, 1, generator=self.g)
        self.looks = torch.randn(n_events, 1, 3, 6, 6, generator=self.g)

    def batch(self, n):
        event = torch.randint(len(self.spectra), (n,), generator=self.g)
        spec = self.spectra[event] + 0.2 * torch.randn(n, 16, 20, generator=self.g)
        clip = self.looks[event] + 0.2 * torch.randn(n, 5, 3, 6, 6, generator=self.g)
        return (spec, clip), event
