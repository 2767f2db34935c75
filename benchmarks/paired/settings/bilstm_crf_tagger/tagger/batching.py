from typing import NamedTuple

import torch
from torch.nn.utils.rnn import pad_sequence


class Batch(NamedTuple):
    words: torch.Tensor
    lengths: torch.Tensor
    tags: torch.Tensor

    def to(self, device):
        # lengths are needed on the host by the packing routine
        return self._replace(words=self.words.to(device), tags=self.tags.to(device))


class Collate:
    def __init__(self, words, tags):
        self.words, self.tags = words, tags

    def __call__(self, items):
        w = [torch.tensor(self.words(ws)) for ws, _ in items]
        t = [torch.tensor(self.tags(ts)) for _, ts in items]
        lengths = torch.tensor([len(x) for x in w])
        return Batch(pad_sequence(w, batch_first=True), lengths, pad_sequence(t, batch_first=True))
