import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class AAMSoftmax(nn.Module):
    """Additive angular margin softmax over the training speakers."""

    def __init__(self, emb_dim, n_speakers, margin=0.2, scale=15.0, device=None):
        super().__init__()
        self.margin, self.scale = margin, scale
        self.weight = nn.Parameter(torch.empty(n_speakers, emb_dim, device=device))
        nn.init.xavier_normal_(self.weight)
        self.threshold = math.cos(math.pi - margin)

    def forward(self, emb, speaker):
        cos = F.linear(F.normalize(emb), F.normalize(self.weight)).clamp(-1 + 1e-6, 1 - 1e-6)
        sin = (1 - cos.pow(2)).sqrt()
        phi = cos * math.cos(self.margin) - sin * math.sin(self.margin)
        phi = torch.where(cos > self.threshold, phi, cos - self.margin)
        hot = F.one_hot(speaker, cos.size(1)).bool()
        logits = self.scale * torch.where(hot, phi, cos)
        return F.cross_entropy(logits, speaker), (cos.argmax(1) == speaker).float().mean()

    @torch.no_grad()
    def set_margin(self, margin):
        self.margin = margin
        self.threshold = math.cos(math.pi - margin)
