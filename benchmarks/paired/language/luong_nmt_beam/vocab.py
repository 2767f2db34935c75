import torch

PAD, BOS, EOS, UNK = 0, 1, 2, 3


class Vocab:
    def __init__(self, sentences):
        self.itos = ['<pad>', '<s>', '</s>', '<unk>']
        for sent in sentences:
            for w in sent:
                if w not in self.itos:
                    self.itos.append(w)
        self.stoi = {w: i for i, w in enumerate(self.itos)}

    def __len__(self):
        return len(self.itos)

    def encode(self, sent):
        return [self.stoi.get(w, UNK) for w in sent] + [EOS]

    def decode(self, ids):
        words = []
        for i in ids:
            if i == EOS:
                break
            words.append(self.itos[i])
        return words


def pad_batch(seqs, device):
    lengths = [len(s) for s in seqs]
    out = torch.full((len(seqs), max(lengths)), PAD, dtype=torch.long)
    for i, s in enumerate(seqs):
        out[i, :len(s)] = torch.tensor(s)
    return out.to(device), lengths
