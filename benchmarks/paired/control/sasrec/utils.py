import random
from collections import defaultdict

import numpy as np


def synthetic_sequences(usernum, itemnum, seed=0):
    """item i is mostly followed by one of three successors of i"""
    rnd = random.Random(seed)
    succ = {i: [rnd.randint(1, itemnum) for _ in range(3)] for i in range(1, itemnum + 1)}
    user = defaultdict(list)
    for u in range(1, usernum + 1):
        item = rnd.randint(1, itemnum)
        for _ in range(rnd.randint(5, 20)):
            user[u].append(item)
            item = rnd.choice(succ[item]) if rnd.random() < 0.85 else rnd.randint(1, itemnum)
    return user


def data_partition(user):
    train, test = {}, {}
    for u, seq in user.items():
        train[u], test[u] = seq[:-1], seq[-1]
    return train, test


def sample_batch(user_train, usernum, itemnum, batch_size, maxlen):
    seqs, poss, negs = [], [], []
    for _ in range(batch_size):
        u = np.random.randint(1, usernum + 1)
        seq = np.zeros([maxlen], dtype=np.int64)
        pos = np.zeros([maxlen], dtype=np.int64)
        neg = np.zeros([maxlen], dtype=np.int64)
        nxt = user_train[u][-1]
        idx = maxlen - 1
        seen = set(user_train[u])
        for i in reversed(user_train[u][:-1]):
            seq[idx] = i
            pos[idx] = nxt
            t = np.random.randint(1, itemnum + 1)
            while t in seen:
                t = np.random.randint(1, itemnum + 1)
            neg[idx] = t
            nxt = i
            idx -= 1
            if idx == -1:
                break
        seqs.append(seq)
        poss.append(pos)
        negs.append(neg)
    return np.array(seqs), np.array(poss), np.array(negs)


def evaluate(model, train, test, itemnum, args, num_neg=20):
    NDCG, HT = 0.0, 0.0
    for u in train:
        seq = np.zeros([args.maxlen], dtype=np.int64)
        tail = train[u][-args.maxlen:]
        seq[-len(tail):] = tail
        rated = set(train[u]) | {0}
        item_idx = [test[u]]
        for _ in range(num_neg):
            t = np.random.randint(1, itemnum + 1)
            while t in rated:
                t = np.random.randint(1, itemnum + 1)
            item_idx.append(t)
        predictions = -model.predict(np.array([seq]), np.array(item_idx))[0]
        rank = predictions.argsort().argsort()[0].item()
        if rank < 5:
            NDCG += 1 / np.log2(rank + 2)
            HT += 1
    return NDCG / len(train), HT / len(train)
