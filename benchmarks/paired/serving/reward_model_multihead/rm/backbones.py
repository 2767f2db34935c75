from abc import ABC, abstractmethod

import torch
import torch.nn as nn

from .registry import BACKBONES


class Backbone(nn.Module, ABC):
    @abstractmethod
    def forward(self, ids, lengths):
        """(B, T) token ids and (B,) lengths to (B, width) summaries."""


@BACKBONES.register("gru")
class GRUBackbone(Backbone):
    def __init__(self, vocab, width):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width, batch_first=True)

    def forward(self, ids, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embed(ids), lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        return self.rnn(packed)[1][-1]


@BACKBONES.register("bag")
class BagBackbone(Backbone):
    def __init__(self, vocab, width):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.proj = nn.Sequential(nn.Linear(width, width), nn.GELU())

    def forward(self, ids, lengths):
        keep = torch.arange(ids.size(1), device=ids.device) < lengths.to(ids.device).unsqueeze(1)
        x = (self.embed(ids) * keep.unsqueeze(-1)).sum(1) / keep.sum(1, keepdim=True)
        return self.proj(x)
