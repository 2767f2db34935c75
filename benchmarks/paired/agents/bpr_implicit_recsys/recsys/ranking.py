import numpy as np


def leave_one_out(user_vecs, item_vecs, interactions, k=10):
    """Hit rate and NDCG of the held-out item among all unseen items."""
    scores = user_vecs @ item_vecs.T
    seen = interactions.train.toarray() > 0
    scores[seen] = -np.inf
    test = interactions.test
    target = scores[np.arange(len(test)), test]
    rank = (scores > target[:, None]).sum(axis=1)
    hit = rank < k
    ndcg = np.where(hit, 1.0 / np.log2(rank + 2), 0.0)
    return {"hr": float(hit.mean()), "ndcg": float(ndcg.mean())}
