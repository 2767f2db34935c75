from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F


class Reservoir:
    """Recent encoder outputs, used to revive dead codes. Lives in RAM."""

    def __init__(self, maxlen=8):
        self.chunks = deque(maxlen=maxlen)

    def push(self, flat):
        self.chunks.append(flat.detach().cpu())

    def draw(self, n):
        bank = torch.cat(list(self.chunks))
        return bank[torch.randint(len(bank), (n,))]

    def __len__(self):
        return sum(len(c) for c in self.chunks)


class EMAVectorQuantizer(nn.Module):
    def __init__(self, num_codes, dim, decay=0.95, eps=1e-5, commitment=0.25):
        super().__init__()
        self.num_codes = num_codes
        self.dim = dim
        self.decay = decay
        self.eps = eps
        self.commitment = commitment

        codebook = torch.randn(num_codes, dim)
        self.register_buffer("codebook", codebook)
        self.register_buffer("codebook_sum", codebook.clone())
        self.register_buffer("cluster_size", torch.zeros(num_codes))
        # steps since a code was last hit
        self.register_buffer("idle", torch.zeros(num_codes, dtype=torch.long), persistent=False)
        self.reservoir = Reservoir()

    def _distances(self, flat):
        return (
            flat.pow(2).sum(1, keepdim=True)
            - 2 * flat @ self.codebook.t()
            + self.codebook.pow(2).sum(1)
        )

    @torch.no_grad()
    def _ema_update(self, flat, onehot):
        counts = onehot.sum(0)
        self.cluster_size.mul_(self.decay).add_(counts, alpha=1 - self.decay)
        self.codebook_sum.mul_(self.decay).add_(onehot.t() @ flat, alpha=1 - self.decay)
        n = self.cluster_size.sum()
        size = (self.cluster_size + self.eps) / (n + self.num_codes * self.eps) * n
        self.codebook.copy_(self.codebook_sum / size.unsqueeze(1))
        self.idle = torch.where(counts > 0, torch.zeros_like(self.idle), self.idle + 1)
        self.reservoir.push(flat)

    @torch.no_grad()
    def restart_dead(self, patience=3):
        dead = (self.idle >= patience).nonzero().squeeze(1)
        if dead.numel() == 0 or len(self.reservoir) == 0:
            return 0
        fresh = self.reservoir.draw(dead.numel()).to(self.codebook)
        self.codebook[dead] = fresh
        self.codebook_sum[dead] = fresh
        self.cluster_size[dead] = 1.0
        self.idle[dead] = 0
        return dead.numel()

    def forward(self, z):
        b, d, h, w = z.shape
        flat = z.permute(0, 2, 3, 1).reshape(-1, d)
        codes = self._distances(flat).argmin(1)
        onehot = F.one_hot(codes, self.num_codes).to(flat.dtype)
        quantized = F.embedding(codes, self.codebook)
        if self.training:
            self._ema_update(flat, onehot)
        loss = self.commitment * F.mse_loss(flat, quantized.detach())
        quantized = flat + (quantized - flat).detach()
        avg = onehot.mean(0)
        perplexity = torch.exp(-(avg * (avg + 1e-10).log()).sum())
        return quantized.view(b, h, w, d).permute(0, 3, 1, 2), loss, codes.view(b, h, w), perplexity
