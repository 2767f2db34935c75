"""Random coding sequences: which of three reading frames is open?"""
import torch
from torch.utils.data import Dataset

BASES = "ACGT"
STOPS = ("TAA", "TAG", "TGA")


def random_codons(n, generator, allow_stop):
    codons = []
    while len(codons) < n:
        c = "".join(BASES[i] for i in torch.randint(4, (3,), generator=generator).tolist())
        if allow_stop or c not in STOPS:
            codons.append(c if torch.rand(1, generator=generator) < 0.4 else c[:2] + "C")
    return "".join(codons)


class Reads(Dataset):
    def __init__(self, n, codons=16, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.rows = []
        for i in range(n):
            frame = i % 3
            s = random_codons(codons, g, allow_stop=False)
            s = s[-frame:] + s[:-frame] if frame else s
            x = torch.tensor([BASES.index(b) for b in s])
            self.rows.append((x, frame, len(s) / 100.0))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        x, frame, size = self.rows[i]
        return {"bases": x, "frame": frame, "size": size}
