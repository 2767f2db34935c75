import torch
from torch import nn

from config import ModelConfig
from events import NUM_TYPES


class EventModel(nn.Module):
    def __init__(self, cfg: ModelConfig):
        super().__init__()
        self.type_emb = nn.Embedding(NUM_TYPES, cfg.dim, padding_idx=0)
        self.gap_proj = nn.Linear(1, cfg.dim)
        self.pos = nn.Parameter(0.02 * torch.randn(cfg.max_events, cfg.dim))
        layer = nn.TransformerEncoderLayer(cfg.dim, cfg.heads, 2 * cfg.dim, 0.1, batch_first=True)
        self.body = nn.TransformerEncoder(layer, cfg.layers, enable_nested_tensor=False)
        self.churn = nn.Linear(cfg.dim, 1)
        self.gap = nn.Linear(cfg.dim, 1)

    def forward(self, inputs):
        types, gaps = inputs["events"]
        pad = inputs["padding"]
        h = self.type_emb(types) + self.gap_proj(gaps[..., None]) + self.pos[: types.size(1)]
        h = self.body(h, src_key_padding_mask=pad)
        h = h.masked_fill(pad[..., None], 0).sum(1) / (~pad).sum(1, keepdim=True)
        return self.churn(h).squeeze(-1), self.gap(h).squeeze(-1)
