from functools import lru_cache

import torch


@lru_cache(maxsize=32)
def causal_mask(length, device):
    mask = torch.full((length, length), float("-inf"), device=device)
    return torch.triu(mask, diagonal=1)


def timeline_mask(seq, pad_id=0):
    return (seq != pad_id).unsqueeze(-1)
