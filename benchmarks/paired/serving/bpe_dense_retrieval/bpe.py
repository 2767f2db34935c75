"""Byte-pair encoding written out by hand, words only."""
from collections import Counter


def _pairs(word):
    return zip(word, word[1:])


def _merge(word, pair):
    out, i = [], 0
    while i < len(word):
        if i + 1 < len(word) and (word[i], word[i + 1]) == pair:
            out.append(word[i] + word[i + 1])
            i += 2
        else:
            out.append(word[i])
            i += 1
    return tuple(out)


class BPETokenizer:
    PAD, UNK = "<pad>", "<unk>"

    def __init__(self):
        self.merges = []
        self.vocab = {}

    def train(self, texts, n_merges):
        words = Counter(tuple(w) + ("</w>",) for t in texts for w in t.split())
        symbols = {s for w in words for s in w}
        for _ in range(n_merges):
            counts = Counter()
            for word, n in words.items():
                for pair in _pairs(word):
                    counts[pair] += n
            if not counts:
                break
            best = max(counts, key=lambda p: (counts[p], p))
            self.merges.append(best)
            symbols.add(best[0] + best[1])
            merged = Counter()
            for word, n in words.items():
                merged[_merge(word, best)] += n
            words = merged
        self.vocab = {s: i for i, s in enumerate([self.PAD, self.UNK] + sorted(symbols))}
        return self

    def encode(self, text):
        ids = []
        for w in text.split():
            word = tuple(w) + ("</w>",)
            for pair in self.merges:
                word = _merge(word, pair)
            ids += [self.vocab.get(s, 1) for s in word]
        return ids

    def __len__(self):
        return len(self.vocab)
