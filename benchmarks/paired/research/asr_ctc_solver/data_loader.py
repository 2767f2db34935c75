import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

CHARS = "_abcdefgh "


class ToneSpeech(Dataset):
    """Every character is a short tone; utterances are log spectrograms."""

    def __init__(self, size, seed, n_fft=64, hop=32):
        self.rng = np.random.RandomState(seed)
        self.n_fft, self.hop = n_fft, hop
        self.texts = ["".join(self.rng.choice(list(CHARS[1:]), self.rng.randint(2, 5))) for _ in range(size)]
        self.window = torch.hann_window(n_fft)

    def __len__(self):
        return len(self.texts)

    def _wave(self, text):
        t = np.arange(320) / 1600.0
        tones = [np.sin(2 * np.pi * (60 + 70 * CHARS.index(c)) * t) for c in text]
        wave = np.concatenate(tones) + 0.05 * self.rng.randn(320 * len(text))
        return torch.from_numpy(wave.astype(np.float32))

    def __getitem__(self, idx):
        text = self.texts[idx]
        spec = torch.stft(self._wave(text), self.n_fft, self.hop, window=self.window, return_complex=True)
        feat = torch.log1p(spec.abs()).t()
        target = torch.LongTensor([CHARS.index(c) for c in text])
        return feat, target, text


def _collate(batch):
    batch.sort(key=lambda b: b[0].size(0), reverse=True)
    feats, targets, texts = zip(*batch)
    feat_lens = torch.LongTensor([f.size(0) for f in feats])
    target_lens = torch.LongTensor([len(t) for t in targets])
    padded = torch.nn.utils.rnn.pad_sequence(feats, batch_first=True)
    return padded, feat_lens, torch.cat(targets), target_lens, list(texts)


def get_loader(split, batch_size, pin_memory=False):
    dataset = ToneSpeech(32 if split == "train" else 12, seed=0 if split == "train" else 7)
    return DataLoader(dataset, batch_size=batch_size, shuffle=split == "train",
                      collate_fn=_collate, pin_memory=pin_memory)
