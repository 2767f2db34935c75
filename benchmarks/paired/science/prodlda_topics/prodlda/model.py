from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Encoder(nn.Module):
    def __init__(self, vocab: int, hidden: int, topics: int, dropout: float) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(vocab, hidden), nn.Softplus(),
            nn.Linear(hidden, hidden), nn.Softplus(),
            nn.Dropout(dropout),
        )
        self.mu = nn.Linear(hidden, topics)
        self.bn_mu = nn.BatchNorm1d(topics, affine=False)
        self.logvar = nn.Linear(hidden, topics)
        self.bn_logvar = nn.BatchNorm1d(topics, affine=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        h = self.body(x)
        return self.bn_mu(self.mu(h)), self.bn_logvar(self.logvar(h))


class Decoder(nn.Module):
    def __init__(self, vocab: int, topics: int, dropout: float) -> None:
        super().__init__()
        self.beta = nn.Linear(topics, vocab, bias=False)
        self.bn = nn.BatchNorm1d(vocab, affine=False)
        self.drop = nn.Dropout(dropout)

    def forward(self, theta: Tensor) -> Tensor:
        return F.log_softmax(self.bn(self.beta(self.drop(theta))), dim=-1)


class ProdLDA(nn.Module):
    def __init__(self, vocab: int, topics: int, hidden: int = 32,
                 alpha: float = 0.1, dropout: float = 0.2) -> None:
        super().__init__()
        self.encoder = Encoder(vocab, hidden, topics, dropout)
        self.decoder = Decoder(vocab, topics, dropout)

        # Laplace approximation of Dirichlet(alpha) in the softmax basis
        a = torch.full((topics,), alpha)
        prior_mean = a.log() - a.log().mean()
        prior_var = (1 - 2 / topics) / a + (1 / a).sum() / topics ** 2
        self.register_buffer("prior_mean", prior_mean)
        self.register_buffer("prior_var", prior_var)

    def kl(self, mu: Tensor, logvar: Tensor) -> Tensor:
        var = logvar.exp()
        return 0.5 * (var / self.prior_var
                      + (mu - self.prior_mean) ** 2 / self.prior_var
                      + self.prior_var.log() - logvar - 1).sum(-1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        mu, logvar = self.encoder(x)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp() if self.training else mu
        logp = self.decoder(F.softmax(z, dim=-1))
        recon = -(x * logp).sum(-1)
        return recon, self.kl(mu, logvar)

    @torch.no_grad()
    def topics(self) -> Tensor:
        return F.softmax(self.decoder.beta.weight.t(), dim=-1)
