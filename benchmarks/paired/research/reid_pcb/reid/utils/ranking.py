import numpy as np


def evaluate_rank(distmat, q_pids, g_pids, q_camids, g_camids, max_rank=5):
    num_q, num_g = distmat.shape
    max_rank = min(max_rank, num_g)
    indices = np.argsort(distmat, axis=1)
    matches = (g_pids[indices] == q_pids[:, np.newaxis]).astype(np.int32)

    all_cmc, all_ap = [], []
    for q in range(num_q):
        order = indices[q]
        remove = (g_pids[order] == q_pids[q]) & (g_camids[order] == q_camids[q])
        orig = matches[q][~remove]
        if not np.any(orig):
            continue
        cmc = orig.cumsum()
        cmc[cmc > 1] = 1
        all_cmc.append(cmc[:max_rank])
        tmp = orig.cumsum() / (np.arange(len(orig)) + 1.)
        all_ap.append((tmp * orig).sum() / orig.sum())
    return np.asarray(all_cmc).astype(np.float32).mean(0), float(np.mean(all_ap))
