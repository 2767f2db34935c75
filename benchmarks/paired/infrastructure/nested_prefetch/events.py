"""Synthetic customer event sequences: predict churn and time to the next event."""
from typing import Dict, List, NamedTuple

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

NUM_TYPES = 8


class Targets(NamedTuple):
    churn: torch.Tensor
    gap: torch.Tensor


class EventDataset(Dataset):
    def __init__(self, size: int, max_events: int, seed: int):
        g = torch.Generator().manual_seed(seed)
        self.rows: List[Dict] = []
        for _ in range(size):
            n = int(torch.randint(3, max_events + 1, (1,), generator=g))
            types = torch.randint(1, NUM_TYPES, (n,), generator=g)
            gaps = torch.rand(n, generator=g) * types.float()
            self.rows.append({
                "types": types,
                "gaps": gaps,
                "churn": float((types >= 5).float().mean() > 0.4),
                "gap": float(gaps[-2:].mean()),
            })

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows: List[Dict]):
    lengths = torch.tensor([len(r["types"]) for r in rows])
    types = pad_sequence([r["types"] for r in rows], batch_first=True)
    gaps = pad_sequence([r["gaps"] for r in rows], batch_first=True)
    inputs = {
        "events": [types, gaps],
        "padding": torch.arange(types.size(1))[None] >= lengths[:, None],
    }
    targets = Targets(
        churn=torch.tensor([r["churn"] for r in rows]),
        gap=torch.tensor([r["gap"] for r in rows]),
    )
    return {"inputs": inputs, "targets": targets, "n": len(rows)}
