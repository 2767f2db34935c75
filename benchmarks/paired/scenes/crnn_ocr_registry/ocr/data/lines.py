import random

import torch
from torch.utils.data import Dataset

from ..registry import DATASETS

GLYPHS = {
    "0": "757", "1": "262", "2": "726", "3": "637", "4": "571", "7": "711", "-": "020",
}


def glyph(ch):
    cols = [[int(b) for b in f"{int(d):03b}"] for d in GLYPHS[ch]]
    return torch.tensor(cols, dtype=torch.float32).t().repeat_interleave(2, 0).repeat_interleave(2, 1)


@DATASETS.register
class DigitLines(Dataset):
    def __init__(self, size, height=8, min_len=2, max_len=4, seed=0):
        self.charset = sorted(GLYPHS)
        self.height = height
        rng = random.Random(seed)
        # real price tags like runs: each next character is close to the last one
        self.texts = []
        for _ in range(size):
            k = rng.randrange(len(self.charset))
            s = ""
            for _ in range(rng.randint(min_len, max_len)):
                s += self.charset[k]
                k = (k + rng.choice([1, 1, 2])) % len(self.charset)
            self.texts.append(s)

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        text = self.texts[i]
        img = torch.zeros(self.height, 9 * len(text))
        for k, ch in enumerate(text):
            img[1:7, 9 * k + 1 : 9 * k + 7] = glyph(ch)
        return img + 0.05 * torch.randn_like(img), text


class Collate:
    def __init__(self, charset):
        self.index = {c: i + 1 for i, c in enumerate(charset)}

    def __call__(self, batch):
        width = max(img.shape[1] for img, _ in batch)
        imgs = torch.zeros(len(batch), 1, batch[0][0].shape[0], width)
        for k, (img, _) in enumerate(batch):
            imgs[k, 0, :, : img.shape[1]] = img
        texts = [t for _, t in batch]
        flat = torch.tensor([self.index[c] for t in texts for c in t])
        return imgs, flat, torch.tensor([len(t) for t in texts]), texts
