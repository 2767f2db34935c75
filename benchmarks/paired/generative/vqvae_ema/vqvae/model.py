import torch.nn as nn
import torch.nn.functional as F

from .quantizer import EMAVectorQuantizer


class ResBlock(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.net = nn.Sequential(
            nn.ReLU(), nn.Conv2d(ch, ch, 3, padding=1),
            nn.ReLU(), nn.Conv2d(ch, ch, 1),
        )

    def forward(self, x):
        return x + self.net(x)


class VQVAE(nn.Module):
    def __init__(self, in_ch=1, hidden=16, num_codes=32, code_dim=8):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(in_ch, hidden, 4, 2, 1), nn.ReLU(),
            nn.Conv2d(hidden, hidden, 4, 2, 1),
            ResBlock(hidden),
            nn.Conv2d(hidden, code_dim, 1),
        )
        self.quantizer = EMAVectorQuantizer(num_codes, code_dim)
        self.decoder = nn.Sequential(
            nn.Conv2d(code_dim, hidden, 3, padding=1),
            ResBlock(hidden),
            nn.ConvTranspose2d(hidden, hidden, 4, 2, 1), nn.ReLU(),
            nn.ConvTranspose2d(hidden, in_ch, 4, 2, 1),
        )

    def forward(self, x):
        q, commit, codes, perplexity = self.quantizer(self.encoder(x))
        recon = self.decoder(q)
        return {
            "recon": recon,
            "loss": F.mse_loss(recon, x) + commit,
            "codes": codes,
            "perplexity": perplexity,
        }
