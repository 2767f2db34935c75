PAD, BOS, EOS = 0, 1, 2
SYMBOLS = ["<pad>", "^", "$", "C", "c", "N", "n", "O", "F", "=", "(", ")", "1"]


class SmilesVocab:
    def __init__(self):
        self.itos = list(SYMBOLS)
        self.stoi = {s: i for i, s in enumerate(self.itos)}

    def __len__(self):
        return len(self.itos)

    def encode(self, smiles):
        return [BOS] + [self.stoi[c] for c in smiles] + [EOS]

    def decode(self, ids):
        out = []
        for i in ids:
            if i == EOS:
                break
            if i > EOS:
                out.append(self.itos[i])
        return "".join(out)
