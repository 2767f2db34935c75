"""Named random streams, so that changing one part of a run leaves the others alone."""
import zlib

import torch

_streams = {}
_base_seed = 0


def seed_all(seed):
    global _base_seed
    _base_seed = seed
    _streams.clear()
    torch.manual_seed(seed)


def stream(name, device="cpu"):
    key = (name, str(device))
    if key not in _streams:
        generator = torch.Generator(device=device)
        generator.manual_seed(_base_seed * 100003 + zlib.crc32(name.encode()) % 99991)
        _streams[key] = generator
    return _streams[key]
