import random
from typing import Dict, List

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

from .config import NERConfig

IGNORE = -100


class SyntheticNER(Dataset):
    """Words 10-39 are names, 40-59 organisations, 60-79 places, the rest is O."""

    def __init__(self, cfg: NERConfig, n: int, seed: int):
        rnd = random.Random(seed)
        self.samples: List[Dict[str, torch.Tensor]] = []
        for _ in range(n):
            length = rnd.randint(5, 12)
            words, tags = [], []
            for _ in range(length):
                tag = rnd.choices(range(4), weights=[6, 2, 1, 1])[0]
                low, high = [(80, cfg.vocab_size), (10, 40), (40, 60), (60, 80)][tag]
                words.append(rnd.randrange(low, high))
                tags.append(tag)
            chars = torch.tensor([[1 + (w * k) % (cfg.char_vocab - 1) for k in (3, 5, 7, 11)] for w in words])
            self.samples.append({"words": torch.tensor(words), "chars": chars, "tags": torch.tensor(tags)})

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        return self.samples[i]


def collate(batch):
    return {
        "words": pad_sequence([b["words"] for b in batch], batch_first=True),
        "chars": pad_sequence([b["chars"] for b in batch], batch_first=True),
        "tags": pad_sequence([b["tags"] for b in batch], batch_first=True, padding_value=IGNORE),
    }
