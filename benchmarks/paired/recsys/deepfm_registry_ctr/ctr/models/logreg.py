import torch.nn as nn

from ..registry import MODELS
from .base import CTRModel


@MODELS.register("logreg")
class LogReg(CTRModel):
    def __init__(self, schema, embed_dim=1):
        super().__init__(schema, embed_dim)
        self.bias = nn.Parameter(self.linear_dense.bias.detach().clone())

    def logits(self, emb, dense):
        return emb.sum((1, 2)) + self.linear_dense(dense).squeeze(-1) + self.bias
