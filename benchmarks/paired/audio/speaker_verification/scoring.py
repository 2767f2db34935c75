import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader


@torch.no_grad()
def extract_embeddings(model, dataset, collate_fn, device, batch_size=16):
    """Embeddings of a whole set, held in host memory."""
    model.eval()
    bank = []
    for feats, lengths, _ in DataLoader(dataset, batch_size, collate_fn=collate_fn):
        bank.append(model(feats.to(device), lengths).cpu())
    model.train()
    return F.normalize(torch.cat(bank))


def adaptive_snorm(raw, enroll, test, cohort, top=8):
    def stats(x):
        best = (x @ cohort.T).topk(top, dim=1).values
        return best.mean(1), best.std(1).clamp_min(1e-4)
    me, se = stats(enroll)
    mt, st = stats(test)
    return 0.5 * ((raw - me) / se + (raw - mt) / st)


def equal_error_rate(scores, labels):
    order = np.argsort(-scores)
    labels = labels[order]
    fa = np.cumsum(1 - labels) / max((1 - labels).sum(), 1)
    miss = 1 - np.cumsum(labels) / max(labels.sum(), 1)
    i = np.argmin(np.abs(fa - miss))
    return float((fa[i] + miss[i]) / 2)
