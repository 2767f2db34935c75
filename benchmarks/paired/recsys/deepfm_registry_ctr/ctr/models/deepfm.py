import torch
import torch.nn as nn

from ..registry import MODELS
from .base import CTRModel


@MODELS.register("deepfm")
class DeepFM(CTRModel):
    def __init__(self, schema, embed_dim=8, hidden=(32, 16), dropout=0.1):
        super().__init__(schema, embed_dim)
        width = len(schema.sparse) * embed_dim + len(schema.dense)
        layers = []
        for h in hidden:
            layers += [nn.Linear(width, h), nn.ReLU(), nn.Dropout(dropout)]
            width = h
        self.deep = nn.Sequential(*layers, nn.Linear(width, 1))
        self.first_order = nn.Linear(len(schema.sparse) * embed_dim, 1)

    def logits(self, emb, dense):
        flat = emb.flatten(1)
        fm = 0.5 * (emb.sum(1).pow(2) - emb.pow(2).sum(1)).sum(-1)
        deep = self.deep(torch.cat([flat, dense], dim=1)).squeeze(-1)
        return fm + deep + (self.first_order(flat) + self.linear_dense(dense)).squeeze(-1)
