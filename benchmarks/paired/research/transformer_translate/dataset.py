''' Toy parallel corpus: the target language is the reversed source with shifted ids. '''
import torch
from torch.utils.data import Dataset, DataLoader

import transformer.Constants as Constants


class ReverseDataset(Dataset):
    def __init__(self, n, vocab, max_len=7, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.pairs = []
        for _ in range(n):
            length = int(torch.randint(3, max_len, (1,), generator=g))
            src = torch.randint(4, vocab, (length,), generator=g).tolist()
            trg = [Constants.BOS] + [4 + (w - 3) % (vocab - 4) for w in reversed(src)] + [Constants.EOS]
            self.pairs.append((src, trg))

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, idx):
        return self.pairs[idx]


def paired_collate_fn(insts):
    src_insts, trg_insts = list(zip(*insts))
    return collate_fn(src_insts), collate_fn(trg_insts)


def collate_fn(insts):
    max_len = max(len(inst) for inst in insts)
    return torch.LongTensor([inst + [Constants.PAD] * (max_len - len(inst)) for inst in insts])


def prepare_dataloaders(opt):
    train = DataLoader(ReverseDataset(48, opt.vocab), batch_size=opt.batch_size, shuffle=True,
                       collate_fn=paired_collate_fn)
    val = DataLoader(ReverseDataset(12, opt.vocab, seed=1), batch_size=opt.batch_size, collate_fn=paired_collate_fn)
    return train, val
