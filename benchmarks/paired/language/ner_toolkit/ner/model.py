import torch
from torch import nn

from .config import NERConfig


class CharCNN(nn.Module):
    def __init__(self, n_chars: int, dim: int):
        super().__init__()
        self.embed = nn.Embedding(n_chars, dim, padding_idx=0)
        self.conv = nn.Conv1d(dim, dim, kernel_size=3, padding=1)

    def forward(self, chars: torch.Tensor) -> torch.Tensor:
        b, t, c = chars.shape
        x = self.embed(chars.view(b * t, c)).transpose(1, 2)
        return torch.relu(self.conv(x)).amax(dim=2).view(b, t, -1)


class Tagger(nn.Module):
    def __init__(self, cfg: NERConfig):
        super().__init__()
        self.words = nn.Embedding(cfg.vocab_size, cfg.word_dim, padding_idx=0)
        self.chars = CharCNN(cfg.char_vocab, cfg.char_dim)
        self.dropout = nn.Dropout(cfg.dropout)
        self.lstm = nn.LSTM(cfg.word_dim + cfg.char_dim, cfg.hidden, bidirectional=True, batch_first=True)
        self.classifier = nn.Linear(2 * cfg.hidden, len(cfg.labels))

    def forward(self, words: torch.Tensor, chars: torch.Tensor) -> torch.Tensor:
        x = torch.cat([self.words(words), self.chars(chars)], dim=-1)
        x, _ = self.lstm(self.dropout(x))
        return self.classifier(self.dropout(x))
