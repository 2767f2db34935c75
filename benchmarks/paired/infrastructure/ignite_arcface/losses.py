import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class ArcFace(nn.Module):
    """Additive angular margin loss (Deng et al.)."""

    def __init__(self, dim, num_classes, s=16.0, m=0.3):
        super().__init__()
        self.s = s
        self.cos_m, self.sin_m = math.cos(m), math.sin(m)
        self.th = math.cos(math.pi - m)
        self.mm = math.sin(math.pi - m) * m
        self.weight = nn.Parameter(torch.empty(num_classes, dim))
        nn.init.xavier_uniform_(self.weight)

    def logits(self, emb):
        return F.linear(F.normalize(emb), F.normalize(self.weight))

    def forward(self, emb, label):
        cosine = self.logits(emb)
        sine = torch.sqrt((1.0 - cosine.pow(2)).clamp(1e-7, 1))
        phi = cosine * self.cos_m - sine * self.sin_m
        phi = torch.where(cosine > self.th, phi, cosine - self.mm)
        hot = F.one_hot(label, cosine.size(1)).bool()
        return F.cross_entropy(self.s * torch.where(hot, phi, cosine), label)
