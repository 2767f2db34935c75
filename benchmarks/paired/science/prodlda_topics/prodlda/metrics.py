import numpy as np


def npmi(topics, counts, topn=5, eps=1e-12):
    """Mean NPMI coherence of the top words, document co-occurrence."""
    present = counts > 0
    n = len(counts)
    scores = []
    for row in topics:
        top = np.argsort(-row)[:topn]
        for a in range(topn):
            for b in range(a + 1, topn):
                pa, pb = present[:, top[a]].mean(), present[:, top[b]].mean()
                pab = (present[:, top[a]] & present[:, top[b]]).sum() / n
                pmi = np.log((pab + eps) / (pa * pb + eps))
                scores.append(pmi / -np.log(pab + eps))
    return float(np.mean(scores))


def diversity(topics, topn=5):
    top = np.argsort(-topics, axis=1)[:, :topn]
    return len(np.unique(top)) / top.size
