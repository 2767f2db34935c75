from itertools import groupby

import torch


def greedy_decode(log_probs, lens, blank=0):
    best = log_probs.argmax(-1).cpu()
    hyps = []
    for path, n in zip(best, lens.tolist()):
        hyps.append([k for k, _ in groupby(path[:n].tolist()) if k != blank])
    return hyps


def edit_distance(ref, hyp):
    row = torch.arange(len(hyp) + 1).tolist()
    for i, r in enumerate(ref, 1):
        prev, row[0] = row[0], i
        for j, h in enumerate(hyp, 1):
            prev, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, prev + (r != h))
    return row[-1]
