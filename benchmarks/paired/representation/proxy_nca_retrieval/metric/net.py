import torch.nn as nn


class EmbeddingNet(nn.Sequential):
    def __init__(self, in_dim, embed_dim):
        super().__init__(
            nn.Linear(in_dim, 64),
            nn.LayerNorm(64),
            nn.ReLU(),
            nn.Linear(64, embed_dim),
        )
