import torch
import torch.nn as nn
import torch.nn.functional as F


class SharedEncoder(nn.Module):
    def __init__(self, vocab_size, dim, n_layers=2, kernel=3, dropout=0.1):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim, padding_idx=0)
        self.convs = nn.ModuleList([nn.Conv1d(dim, 2 * dim, kernel, padding=kernel // 2) for _ in range(n_layers)])
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids):
        x = self.embed(ids).transpose(1, 2)
        for conv in self.convs:
            x = x + F.glu(conv(self.dropout(x)), dim=1)
        return x.transpose(1, 2)


class AttentionPool(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.query = nn.Parameter(torch.randn(dim) / dim ** 0.5)

    def forward(self, x, mask):
        w = (x @ self.query).masked_fill(~mask, float('-inf')).softmax(dim=-1)
        return (w.unsqueeze(-1) * x).sum(dim=1)
