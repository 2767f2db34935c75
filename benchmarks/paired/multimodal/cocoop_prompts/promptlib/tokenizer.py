import torch


class WordTokenizer:
    """Whitespace tokenizer with a fixed word list."""

    SOT, EOT, PAD = 1, 2, 0

    def __init__(self, words, max_len=8):
        self.vocab = {w: i + 3 for i, w in enumerate(sorted(set(words)))}
        self.max_len = max_len

    def __len__(self):
        return len(self.vocab) + 3

    def __call__(self, texts):
        out = torch.full((len(texts), self.max_len), self.PAD, dtype=torch.long)
        for row, text in enumerate(texts):
            ids = [self.SOT] + [self.vocab[w] for w in text.split()] + [self.EOT]
            out[row, : len(ids)] = torch.tensor(ids)
        return out
