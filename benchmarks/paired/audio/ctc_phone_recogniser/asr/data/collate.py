import random
from typing import NamedTuple

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Sampler


class Batch(NamedTuple):
    feats: torch.Tensor
    feat_lens: torch.Tensor
    labels: torch.Tensor
    label_lens: torch.Tensor

    def to(self, device, non_blocking=False):
        return self._replace(
            feats=self.feats.to(device, non_blocking=non_blocking),
            labels=self.labels.to(device, non_blocking=non_blocking),
            label_lens=self.label_lens.to(device, non_blocking=non_blocking),
        )


def pad_collate(samples):
    feats, labels = zip(*samples)
    return Batch(
        feats=pad_sequence(feats, batch_first=True),
        feat_lens=torch.tensor([len(f) for f in feats]),
        labels=pad_sequence(labels, batch_first=True, padding_value=0),
        label_lens=torch.tensor([len(y) for y in labels]),
    )


class BucketSampler(Sampler):
    """Batches of utterances of about the same duration, in random order."""

    def __init__(self, corpus, batch_size, shuffle=True):
        order = sorted(range(len(corpus)), key=corpus.num_frames)
        self.batches = [order[i:i + batch_size] for i in range(0, len(order), batch_size)]
        self.shuffle = shuffle

    def __iter__(self):
        batches = list(self.batches)
        if self.shuffle:
            random.shuffle(batches)
        return iter(batches)

    def __len__(self):
        return len(self.batches)
