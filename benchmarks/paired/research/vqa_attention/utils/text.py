import torch


class Vocab(object):
    def __init__(self, words):
        self.itos = ['<pad>', '<unk>'] + list(words)
        self.stoi = {w: i for i, w in enumerate(self.itos)}

    def __len__(self):
        return len(self.itos)

    def encode(self, sentence):
        return torch.tensor([self.stoi.get(w, 1) for w in sentence.split()], dtype=torch.long)
