import torch.nn as nn
from torch.utils.checkpoint import checkpoint


class MixerLayer(nn.Module):
    def __init__(self, tokens, dim):
        super().__init__()
        self.n1 = nn.LayerNorm(dim)
        self.mix_tokens = nn.Sequential(nn.Linear(tokens, tokens * 2), nn.GELU(), nn.Linear(tokens * 2, tokens))
        self.n2 = nn.LayerNorm(dim)
        self.mix_dim = nn.Sequential(nn.Linear(dim, dim * 2), nn.GELU(), nn.Linear(dim * 2, dim))

    def forward(self, x):
        x = x + self.mix_tokens(self.n1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.mix_dim(self.n2(x))


class DeepStack(nn.Module):
    """`recompute` layers at the bottom are checkpointed, the rest store."""

    def __init__(self, tokens, features, dim, depth, recompute=0):
        super().__init__()
        self.embed = nn.Linear(features, dim)
        self.layers = nn.ModuleList(MixerLayer(tokens, dim) for _ in range(depth))
        self.readout = nn.Linear(dim, 1)
        self.recompute = recompute

    def forward(self, x):
        x = self.embed(x)
        for i, layer in enumerate(self.layers):
            if self.training and i < self.recompute:
                x = checkpoint(layer, x, use_reentrant=False)
            else:
                x = layer(x)
        return self.readout(x.mean(1)).squeeze(-1)
