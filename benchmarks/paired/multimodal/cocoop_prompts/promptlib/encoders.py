import torch
from torch import nn
import torch.nn.functional as F


class TextEncoder(nn.Module):
    def __init__(self, vocab_size, width=32, max_len=16, out_dim=24):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, width)
        self.positions = nn.Parameter(torch.randn(max_len, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, 4, 64, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.proj = nn.Linear(width, out_dim, bias=False)

    def forward(self, embeddings, eot_index):
        length = embeddings.shape[1]
        h = self.blocks(embeddings + self.positions[:length])
        rows = torch.arange(h.shape[0], device=h.device)
        pooled = h[rows, eot_index]
        return F.normalize(self.proj(pooled), dim=-1)


class ImageEncoder(nn.Module):
    def __init__(self, out_dim=24):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, out_dim),
        )

    def forward(self, images):
        return F.normalize(self.net(images), dim=-1)
