import numpy as np

from data_loader import CHARS


def collapse(path):
    out, prev = [], 0
    for p in path:
        if p != prev and p != 0:
            out.append(CHARS[p])
        prev = p
    return "".join(out)


def greedy_decode(log_probs, lengths):
    """log_probs: (B, T, V) array, lengths: (B,) array"""
    best = np.argmax(log_probs, axis=-1)
    return [collapse(best[b, :lengths[b]]) for b in range(best.shape[0])]


def prefix_beam_decode(log_probs, length, beam=4):
    beams = {"": (0.0, -np.inf)}
    for t in range(length):
        nxt = {}
        for prefix, (pb, pnb) in beams.items():
            for v in np.argsort(log_probs[t])[-beam:]:
                lp = log_probs[t, v]
                if v == 0:
                    b, nb = nxt.get(prefix, (-np.inf, -np.inf))
                    nxt[prefix] = (np.logaddexp(b, np.logaddexp(pb, pnb) + lp), nb)
                    continue
                c = CHARS[v]
                if prefix and prefix[-1] == c:
                    b, nb = nxt.get(prefix, (-np.inf, -np.inf))
                    nxt[prefix] = (b, np.logaddexp(nb, pnb + lp))
                    b, nb = nxt.get(prefix + c, (-np.inf, -np.inf))
                    nxt[prefix + c] = (b, np.logaddexp(nb, pb + lp))
                else:
                    b, nb = nxt.get(prefix + c, (-np.inf, -np.inf))
                    nxt[prefix + c] = (b, np.logaddexp(nb, np.logaddexp(pb, pnb) + lp))
        beams = dict(sorted(nxt.items(), key=lambda kv: -np.logaddexp(*kv[1]))[:beam])
    return max(beams, key=lambda k: np.logaddexp(*beams[k]))


def edit_distance(a, b):
    d = np.arange(len(b) + 1)
    for i, ca in enumerate(a, 1):
        prev, d[0] = d[0], i
        for j, cb in enumerate(b, 1):
            prev, d[j] = d[j], min(d[j] + 1, d[j - 1] + 1, prev + (ca != cb))
    return int(d[len(b)])
