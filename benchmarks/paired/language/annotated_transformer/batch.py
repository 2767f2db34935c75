import numpy as np
import torch

from model import subsequent_mask


class Batch:
    "Object for holding a batch of data with mask during training."

    def __init__(self, src, trg, pad=0):
        self.src = src
        self.src_mask = (src != pad).unsqueeze(-2)
        self.trg = trg[:, :-1]
        self.trg_y = trg[:, 1:]
        self.trg_mask = self.make_std_mask(self.trg, pad)
        self.ntokens = (self.trg_y != pad).sum().item()

    @staticmethod
    def make_std_mask(tgt, pad):
        tgt_mask = (tgt != pad).unsqueeze(-2)
        return tgt_mask & subsequent_mask(tgt.size(-1)).type_as(tgt_mask)


def data_gen(V, batch, nbatches, device, length=8):
    "Generate random data for a src-tgt copy task."
    for _ in range(nbatches):
        data = torch.from_numpy(np.random.randint(1, V, size=(batch, length)))
        data[:, 0] = 1
        short = np.random.randint(length // 2, length + 1, size=batch)
        for row, n in enumerate(short):
            data[row, n:] = 0
        data = data.to(device)
        yield Batch(data, data, 0)
