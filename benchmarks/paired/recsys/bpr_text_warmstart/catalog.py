"""Synthetic catalogue: items with short descriptions, users with topic tastes."""
import numpy as np

TOPICS = {
    "garden": "spade hose seed pot soil rake bulb fern".split(),
    "kitchen": "pan knife oven whisk bowl kettle spoon grill".split(),
    "music": "guitar drum amp string piano pick tuner cable".split(),
    "sport": "ball racket glove shoe net bike helmet rope".split(),
}


def build_catalog(n_items, seed):
    rng = np.random.default_rng(seed)
    names = list(TOPICS)
    topics = rng.integers(0, len(names), n_items)
    texts = []
    for t in topics:
        main = rng.choice(TOPICS[names[t]], 5)
        noise = rng.choice(sum(TOPICS.values(), []), 2)
        texts.append(" ".join([*main, *noise]))
    return topics, texts


def build_interactions(topics, n_users, per_user, seed):
    rng = np.random.default_rng(seed)
    n_topics = topics.max() + 1
    rows = []
    for u in range(n_users):
        taste = rng.dirichlet(np.full(n_topics, 0.3))
        p = taste[topics] + 1e-3
        items = rng.choice(len(topics), per_user, replace=False, p=p / p.sum())
        rows += [(u, int(i)) for i in items]
    return np.array(rows)
