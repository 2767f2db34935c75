import pandas as pd
import numpy as np


def generate_impressions(schema, rows, seed):
    rng = np.random.default_rng(seed)
    cols, logit = {}, np.full(rows, -1.2)
    for f in schema.sparse:
        p = rng.dirichlet(np.full(f.cardinality, 0.6))
        ids = rng.choice(f.cardinality, size=rows, p=p)
        logit += rng.normal(0, 0.8, f.cardinality)[ids]
        cols[f.name] = ids
    for f in schema.dense:
        x = rng.lognormal(0.0, 1.0, rows)
        logit += 0.3 * rng.normal() * np.log1p(x)
        cols[f.name] = x.astype("float32")
    cols["click"] = (rng.random(rows) < 1 / (1 + np.exp(-logit))).astype("float32")
    return pd.DataFrame(cols)
