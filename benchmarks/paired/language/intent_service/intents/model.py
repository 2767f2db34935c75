from __future__ import annotations

import torch
from torch import Tensor, nn


class IntentModel(nn.Module):
    def __init__(self, vocab_size: int, n_intents: int, dim: int = 32, heads: int = 4, max_length: int = 24):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, dim, padding_idx=0)
        self.positions = nn.Parameter(torch.randn(1, max_length, dim) * 0.02)
        self.layer = nn.TransformerEncoderLayer(dim, heads, dim_feedforward=64, dropout=0.1,
                                                batch_first=True, norm_first=True)
        self.norm = nn.LayerNorm(dim)
        self.classifier = nn.Linear(dim, n_intents)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        x = self.tokens(input_ids) + self.positions[:, : input_ids.size(1)]
        x = self.layer(x, src_key_padding_mask=~attention_mask)
        return self.classifier(self.norm(x[:, 0]))
