from dataclasses import dataclass

import torch
from torch import nn

from .geometry import cell_grid, neighbours, segment_mean


@dataclass
class EncodedTable:
    cells: torch.Tensor
    shape: tuple
    question: torch.Tensor
    answer: int
    # sorted cell order for every column, for human-readable reports (host only)
    ranking: list

    def to(self, device):
        return EncodedTable(
            self.cells.to(device), self.shape, self.question.to(device), self.answer, self.ranking
        )


def encode_table(table, question, answer):
    """Standardise numbers per column and append scaled coordinates."""
    rows, cols = len(table), len(table[0])
    values = torch.tensor(table, dtype=torch.float32)
    scaled = (values - values.mean(0)) / (values.std(0) + 1e-5)
    where = cell_grid(rows, cols).float() / 10.0
    cells = torch.cat([scaled.reshape(-1, 1), where], dim=1)
    ranking = [column.argsort().tolist() for column in values.t()]
    return EncodedTable(cells, (rows, cols), torch.tensor(question), answer, ranking)


class CellAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)
        self.norm = nn.LayerNorm(dim)

    def forward(self, h, mask):
        q, k, v = self.qkv(self.norm(h)).chunk(3, dim=-1)
        logits = (q @ k.t()) / q.shape[-1] ** 0.5
        logits = torch.where(mask, logits, torch.finfo(logits.dtype).min)
        return h + logits.softmax(-1) @ v


class TableEncoder(nn.Module):
    def __init__(self, vocab=16, dim=32, max_rows=16, max_cols=8):
        super().__init__()
        self.cell = nn.Linear(3, dim)
        self.row = nn.Embedding(max_rows, dim)
        self.col = nn.Embedding(max_cols, dim)
        self.words = nn.EmbeddingBag(vocab, dim)
        self.layers = nn.ModuleList(CellAttention(dim) for _ in range(2))
        self.score = nn.Linear(dim, dim)

    def forward(self, table):
        rows, cols = table.shape
        grid = cell_grid(rows, cols, table.cells.device)
        h = self.cell(table.cells) + self.row(grid[:, 0]) + self.col(grid[:, 1])
        mask = neighbours(grid)
        for layer in self.layers:
            h = layer(h, mask)
        columns = segment_mean(h, grid[:, 1], cols)
        question = self.words(table.question.unsqueeze(0))
        return (self.score(question) @ columns.t()).squeeze(0)
