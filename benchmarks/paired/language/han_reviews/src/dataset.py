import numpy as np
import torch
from torch.utils.data import Dataset

MAX_SENTS = 5
MAX_WORDS = 8


class ReviewDataset(Dataset):
    """Random documents; the label depends on which marker words occur most."""

    def __init__(self, size, vocab_size=120, num_classes=3, seed=0):
        rng = np.random.RandomState(seed)
        self.docs = np.zeros((size, MAX_SENTS, MAX_WORDS), dtype=np.int64)
        self.labels = rng.randint(0, num_classes, size)
        for d in range(size):
            for s in range(rng.randint(2, MAX_SENTS + 1)):
                n = rng.randint(3, MAX_WORDS + 1)
                words = rng.randint(10, vocab_size, n)
                if rng.rand() < 0.6:
                    words[rng.randint(n)] = 1 + self.labels[d]
                self.docs[d, s, :n] = words

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        doc = torch.from_numpy(self.docs[index])
        sent_lengths = doc.ne(0).sum(dim=1)
        return doc, sent_lengths, sent_lengths.ne(0).sum(), int(self.labels[index])
