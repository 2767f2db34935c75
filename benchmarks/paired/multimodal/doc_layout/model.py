import torch
from torch import nn

from reading import arrange, reading_order


class LayoutEmbedding(nn.Module):
    def __init__(self, vocab, dim, bins=32):
        super().__init__()
        self.bins = bins
        self.words = nn.Embedding(vocab, dim)
        self.x = nn.Embedding(bins, dim)
        self.y = nn.Embedding(bins, dim)
        self.rank = nn.Embedding(64, dim)
        self.norm = nn.LayerNorm(dim)

    def forward(self, tokens, boxes):
        q = (boxes * self.bins).long().clamp(0, self.bins - 1)
        spatial = self.x(q[..., 0]) + self.x(q[..., 2]) + self.y(q[..., 1]) + self.y(q[..., 3])
        rank = torch.arange(tokens.shape[1], device=tokens.device)
        return self.norm(self.words(tokens) + spatial + self.rank(rank))


class BiasedAttention(nn.Module):
    """Self attention with a learned bias for the vertical distance of two words."""

    def __init__(self, dim, heads=4, buckets=8):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)
        self.bias = nn.Embedding(buckets, heads)
        edges = torch.linspace(-0.6, 0.6, buckets - 1)
        self.register_buffer("edges", edges)

    def forward(self, h, boxes):
        b, n, d = h.shape
        q, k, v = self.qkv(h).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = boxes[..., 1]
        bucket = torch.bucketize((y[:, None] - y[:, :, None]).contiguous(), self.edges)
        bias = self.bias(bucket).permute(0, 3, 1, 2)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        return h + self.out(mixed.transpose(1, 2).reshape(b, n, d))


class LayoutTagger(nn.Module):
    def __init__(self, vocab=40, dim=32, tags=3, depth=2):
        super().__init__()
        self.embed = LayoutEmbedding(vocab, dim)
        self.blocks = nn.ModuleList(BiasedAttention(dim) for _ in range(depth))
        self.head = nn.Linear(dim, tags)

    def forward(self, tokens, boxes):
        order = reading_order(boxes)
        tokens, boxes = arrange(order, tokens, boxes)
        h = self.embed(tokens, boxes)
        for block in self.blocks:
            h = block(h, boxes)
        undo = order.argsort(dim=1)
        return arrange(undo, self.head(h))[0]
