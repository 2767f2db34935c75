from typing import Tuple

import torch
from torch import Tensor, nn


class BetaVAE(nn.Module):
    def __init__(self, size: int, latent_dim: int, hidden: int) -> None:
        super().__init__()
        self.latent_dim = latent_dim
        flat = 16 * (size // 4) ** 2
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 8, 4, 2, 1), nn.LeakyReLU(),
            nn.Conv2d(8, 16, 4, 2, 1), nn.LeakyReLU(),
            nn.Flatten(), nn.Linear(flat, hidden), nn.LeakyReLU(),
        )
        self.to_mu = nn.Linear(hidden, latent_dim)
        self.to_logvar = nn.Linear(hidden, latent_dim)
        self.decoder = nn.Sequential(
            nn.Linear(latent_dim, hidden), nn.LeakyReLU(),
            nn.Linear(hidden, flat), nn.LeakyReLU(),
            nn.Unflatten(1, (16, size // 4, size // 4)),
            nn.ConvTranspose2d(16, 8, 4, 2, 1), nn.LeakyReLU(),
            nn.ConvTranspose2d(8, 1, 4, 2, 1),
        )

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def encode(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        h = self.encoder(x)
        return self.to_mu(h), self.to_logvar(h).clamp(-8, 8)

    @staticmethod
    def reparameterize(mu: Tensor, logvar: Tensor) -> Tensor:
        return mu + torch.randn_like(mu) * (0.5 * logvar).exp()

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        mu, logvar = self.encode(x)
        return self.decoder(self.reparameterize(mu, logvar)), mu, logvar

    @torch.no_grad()
    def sample(self, n: int) -> Tensor:
        z = torch.randn(n, self.latent_dim, device=self.device)
        return self.decoder(z).sigmoid()

    @torch.no_grad()
    def traverse(self, x: Tensor, dim: int, steps: int = 5) -> Tensor:
        mu, _ = self.encode(x[:1])
        z = mu.repeat(steps, 1)
        z[:, dim] = torch.linspace(-2, 2, steps)
        return self.decoder(z).sigmoid()
