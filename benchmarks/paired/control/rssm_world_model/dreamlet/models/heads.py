import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, depth: int = 4, out: int = 24):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, depth, 4, stride=2, padding=1), nn.ELU(),
            nn.Conv2d(depth, 2 * depth, 4, stride=2, padding=1), nn.ELU(),
            nn.Flatten(), nn.Linear(2 * depth * 16, out),
        )

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        lead = frames.shape[:-3]
        return self.conv(frames.flatten(0, -4)).unflatten(0, lead)


class Decoder(nn.Module):
    def __init__(self, feature_size: int, depth: int = 4):
        super().__init__()
        self.fc = nn.Linear(feature_size, 2 * depth * 16)
        self.deconv = nn.Sequential(
            nn.ConvTranspose2d(2 * depth, depth, 4, stride=2, padding=1), nn.ELU(),
            nn.ConvTranspose2d(depth, 1, 4, stride=2, padding=1),
        )
        self.depth = depth

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        lead = features.shape[:-1]
        x = self.fc(features.flatten(0, -2)).view(-1, 2 * self.depth, 4, 4)
        return self.deconv(x).unflatten(0, lead)


class RewardHead(nn.Module):
    def __init__(self, feature_size: int, hidden: int = 24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(feature_size, hidden), nn.ELU(), nn.Linear(hidden, 1))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.net(features).squeeze(-1)
