import random

ONES = 'zero one two three four five six seven eight nine'.split()


def make_pairs(n, seed=0):
    """digits in, words in reversed order out"""
    rnd = random.Random(seed)
    pairs = []
    for _ in range(n):
        digits = [str(rnd.randrange(10)) for _ in range(rnd.randint(2, 5))]
        pairs.append((digits, [ONES[int(d)] for d in reversed(digits)]))
    return pairs


def minibatches(pairs, size, shuffle=True):
    pairs = list(pairs)
    if shuffle:
        random.shuffle(pairs)
    for i in range(0, len(pairs), size):
        chunk = sorted(pairs[i:i + size], key=lambda p: -len(p[0]))
        yield [s for s, _ in chunk], [t for _, t in chunk]
