"""A word level tokenizer with a call signature like the tokenizers of transformers."""
from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Iterable, Sequence

import torch
from torch import Tensor


@dataclass(frozen=True)
class Encoding:
    input_ids: Tensor
    attention_mask: Tensor

    def to(self, device: torch.device | str) -> "Encoding":
        return Encoding(self.input_ids.to(device), self.attention_mask.to(device))

    def __len__(self) -> int:
        return self.input_ids.size(0)


class WordTokenizer:
    PAD, UNK, CLS = "[PAD]", "[UNK]", "[CLS]"
    _pattern = re.compile(r"[a-z]+|\d|[^\w\s]")

    def __init__(self, vocab: Sequence[str]):
        self.itos = [self.PAD, self.UNK, self.CLS, *vocab]
        self.stoi = {t: i for i, t in enumerate(self.itos)}

    @classmethod
    def train(cls, texts: Iterable[str], min_count: int = 1) -> "WordTokenizer":
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(cls._pattern.findall(text.lower()))
        return cls(sorted(t for t, c in counts.items() if c >= min_count))

    def __len__(self) -> int:
        return len(self.itos)

    def tokenize(self, text: str) -> list[int]:
        unk = self.stoi[self.UNK]
        return [self.stoi[self.CLS]] + [self.stoi.get(t, unk) for t in self._pattern.findall(text.lower())]

    def __call__(self, texts: str | Sequence[str], max_length: int = 24) -> Encoding:
        if isinstance(texts, str):
            texts = [texts]
        rows = [self.tokenize(t)[:max_length] for t in texts]
        width = max(map(len, rows))
        ids = torch.tensor([r + [0] * (width - len(r)) for r in rows])
        return Encoding(ids, ids.ne(0))
