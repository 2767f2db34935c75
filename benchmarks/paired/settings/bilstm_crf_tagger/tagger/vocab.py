import random


class Vocab:
    def __init__(self, tokens, specials=("<pad>", "<unk>")):
        self.itos = list(specials) + sorted(set(tokens))
        self.stoi = {t: i for i, t in enumerate(self.itos)}

    def __len__(self):
        return len(self.itos)

    def __call__(self, seq):
        return [self.stoi.get(t, self.stoi.get("<unk>")) for t in seq]

    def decode(self, ids):
        return [self.itos[i] for i in ids]


NAMES = {"PER": ["ada", "alan", "grace", "linus", "barbara"],
         "LOC": ["york", "paris", "new", "delhi", "oslo"]}
FILL = "the went to from and met in saw with yesterday again of".split()


def toy_sentences(n, seed):
    rnd = random.Random(seed)
    for _ in range(n):
        words, tags = [], []
        while len(words) < rnd.randint(4, 11):
            if rnd.random() < 0.35:
                kind = rnd.choice(["PER", "LOC"])
                span = rnd.randint(1, 3)
                words += [rnd.choice(NAMES[kind]) for _ in range(span)]
                tags += ["B-" + kind] + ["I-" + kind] * (span - 1)
            else:
                words.append(rnd.choice(FILL))
                tags.append("O")
        yield words, tags
