import torch


class LMOrderedIterator(object):
    def __init__(self, data, bsz, bptt, device='cpu'):
        self.bsz, self.bptt, self.device = bsz, bptt, device
        n_step = data.size(0) // bsz
        # Evenly divide the data across the bsz batches.
        self.data = data[:n_step * bsz].view(bsz, -1).t().contiguous().to(device)

    def __len__(self):
        return (self.data.size(0) - 1 + self.bptt - 1) // self.bptt

    def get_batch(self, i):
        seq_len = min(self.bptt, self.data.size(0) - 1 - i)
        return self.data[i:i + seq_len], self.data[i + 1:i + 1 + seq_len]

    def get_fixlen_iter(self, start=0):
        for i in range(start, self.data.size(0) - 1, self.bptt):
            yield self.get_batch(i)


def random_corpus(n_token, length, seed):
    g = torch.Generator().manual_seed(seed)
    return torch.randint(0, 4, (length,), generator=g).cumsum(0) % n_token
