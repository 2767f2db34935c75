import zlib

import torch

_pool = {}


def example_input(shape, device, dtype=torch.float32):
    """Random input of the given shape, the same numbers on every run.

    Inputs are pooled because most cases share a few shapes and filling large
    tensors takes longer than the kernels under test."""
    key = (shape, dtype, str(device))
    if key not in _pool:
        g = torch.Generator().manual_seed(zlib.crc32(repr(shape).encode()))
        _pool[key] = torch.randn(shape, generator=g).to(device=device, dtype=dtype)
    return _pool[key]


def pool_size():
    return sum(t.numel() * t.element_size() for t in _pool.values())


def clear_pool():
    _pool.clear()
