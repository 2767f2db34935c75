"""Tokenising and n-gram hashing, in the manner of fastText."""
import random
import re
import zlib

from settings import BUCKETS, CLASSES, NGRAMS

WORDS = {
    "World": "president minister talks border troops election vote treaty".split(),
    "Sports": "match team goal season coach league final player".split(),
    "Business": "shares profit market oil bank stocks quarter deal".split(),
    "Sci/Tec": "software chip space internet robot web launch phone".split(),
}
COMMON = "the a of on in says new after for with today".split()


def tokenize(text):
    return re.findall(r"[a-z]+", text.lower())


def text_pipeline(text):
    tokens = tokenize(text)
    grams = list(tokens)
    for n in range(2, NGRAMS + 1):
        grams += [" ".join(tokens[i:i + n]) for i in range(len(tokens) - n + 1)]
    return [zlib.crc32(g.encode()) % BUCKETS for g in grams]


def label_pipeline(label):
    return int(label) - 1


def news(n, seed):
    rnd = random.Random(seed)
    out = []
    for _ in range(n):
        k = rnd.randrange(len(CLASSES))
        words = [rnd.choice(COMMON) if rnd.random() < 0.5 else rnd.choice(WORDS[CLASSES[k]])
                 for _ in range(rnd.randint(4, 10))]
        out.append((k + 1, " ".join(words)))
    return out
