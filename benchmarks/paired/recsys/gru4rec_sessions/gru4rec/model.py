import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class GRU4Rec(nn.Module):
    def __init__(self, num_items, hidden=32, layers=1, dropout=0.1):
        super().__init__()
        self.embedding = nn.Embedding(num_items + 1, hidden, padding_idx=0)
        self.dropout = nn.Dropout(dropout)
        self.gru = nn.GRU(hidden, hidden, layers, batch_first=True)
        self.item_bias = nn.Embedding(num_items + 1, 1)
        nn.init.zeros_(self.item_bias.weight)

    def forward(self, inputs, lengths):
        x = self.dropout(self.embedding(inputs))
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, last = self.gru(packed)
        out, _ = pad_packed_sequence(out, batch_first=True, total_length=inputs.size(1))
        return out, last[-1]

    def score(self, hidden, items=None):
        w = self.embedding.weight if items is None else self.embedding(items)
        b = self.item_bias.weight if items is None else self.item_bias(items)
        return hidden @ w.t() + b.squeeze(-1)
