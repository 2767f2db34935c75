import random

STEMS = "tensor kernel driver lattice garden river violin harbor copper meadow signal planet".split()
VERBS = "moves holds opens covers follows answers".split()
FILL = "the a some every".split()


def make_corpus(n_topics=8, per_topic=3, seed=0):
    """(query, passage) pairs; a topic is a pair of nouns."""
    rng = random.Random(seed)
    topics = [rng.sample(STEMS, 2) for _ in range(n_topics)]
    rows = []
    for topic_id, (a, b) in enumerate(topics):
        for _ in range(per_topic):
            passage = f"{rng.choice(FILL)} {a} {rng.choice(VERBS)} {rng.choice(FILL)} {b}"
            query = f"what {rng.choice(VERBS)} {a} {b}"
            rows.append({"query": query, "passage": passage, "topic": topic_id})
    return rows
