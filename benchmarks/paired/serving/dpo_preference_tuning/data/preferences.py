import random
from typing import Dict, List

import torch
from torch.utils.data import Dataset

PAD = 0


class PreferencePairs(Dataset):
    """Synthetic pairs: the chosen answer repeats the prompt, the rejected one is noise."""

    def __init__(self, n: int, vocab_size: int, seed: int = 0):
        rng = random.Random(seed)
        self.rows = []
        for i in range(n):
            prompt = [rng.randrange(2, vocab_size) for _ in range(rng.randint(3, 6))]
            chosen = prompt[: rng.randint(2, len(prompt))] + [1]
            rejected = [rng.randrange(2, vocab_size) for _ in range(rng.randint(2, 6))] + [1]
            self.rows.append({"index": i, "prompt": prompt, "chosen": chosen, "rejected": rejected})

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def _pad(seqs: List[List[int]], value: int) -> torch.Tensor:
    width = max(map(len, seqs))
    return torch.tensor([s + [value] * (width - len(s)) for s in seqs])


def collate_pairs(rows: List[Dict]) -> Dict[str, torch.Tensor]:
    batch = {"index": torch.tensor([r["index"] for r in rows])}
    for side in ("chosen", "rejected"):
        ids = [r["prompt"] + r[side] for r in rows]
        mask = [[0] * len(r["prompt"]) + [1] * len(r[side]) for r in rows]
        batch[f"{side}_ids"] = _pad(ids, PAD)
        batch[f"{side}_mask"] = _pad(mask, 0)
    return batch
