"""Attention masks. Causal masks are reused, decoding asks for the same sizes again and again."""
import torch

_CAUSAL = {}


def causal(size, device):
    key = (size, str(device))
    if key not in _CAUSAL:
        _CAUSAL[key] = torch.full((size, size), float("-inf"), device=device).triu(1)
    return _CAUSAL[key]


def padding(ids, pad=0):
    m = torch.zeros(ids.shape, device=ids.device)
    return m.masked_fill(ids.eq(pad), float("-inf"))
