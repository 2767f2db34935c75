import torch
import torch.nn as nn


class TinyEncoder(nn.Module):
    def __init__(self, vocab, dim, depth, n_classes, max_len=24):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim, padding_idx=0)
        self.pos = nn.Parameter(torch.zeros(max_len, dim))
        layer = lambda: nn.TransformerEncoderLayer(dim, 2, 2 * dim, dropout=0.1, batch_first=True, norm_first=True)
        self.layers = nn.ModuleList([layer() for _ in range(depth)])
        self.head = nn.Linear(dim, n_classes)

    def forward(self, ids):
        pad = ids.eq(0)
        h = self.tok(ids) + self.pos[: ids.size(1)]
        for layer in self.layers:
            h = layer(h, src_key_padding_mask=pad)
        keep = (~pad).unsqueeze(-1).float()
        return self.head((h * keep).sum(1) / keep.sum(1))


TEACHER = dict(dim=32, depth=2)
STUDENT = dict(dim=16, depth=1)
