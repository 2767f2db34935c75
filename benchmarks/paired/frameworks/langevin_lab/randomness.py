"""Named random streams: each name has its own reproducible generator."""
import zlib

import torch


class Streams:
    def __init__(self, seed: int, device="cpu"):
        self.seed = seed
        self.device = torch.device(device)
        self._open = {}

    def __getitem__(self, name: str) -> torch.Generator:
        if name not in self._open:
            g = torch.Generator(device=self.device)
            g.manual_seed((self.seed * 1_000_003 + zlib.crc32(name.encode())) % 2**31)
            self._open[name] = g
        return self._open[name]

    def spawn(self, label: str, device=None) -> "Streams":
        """A child with a seed of its own; on the parent's device unless told."""
        seed = (self.seed + zlib.crc32(label.encode())) % 2**31
        return Streams(seed, self.device if device is None else device)
