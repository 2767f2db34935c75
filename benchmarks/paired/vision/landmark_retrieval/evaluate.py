import os

import numpy as np
import torch

from retrieval.descriptor import DescriptorNet
from retrieval.expansion import alpha_query_expansion
from retrieval.index import FeatureIndex
from retrieval.landmarks import batches, make_split
from retrieval.training import fit

DEVICE = os.environ.get("DEVICE") or ("cuda" if torch.cuda.is_available() else "cpu")


def precision_at_k(index, feats, labels, k):
    _, idx = index.search(feats, k)
    return (index.label_of(idx) == labels.numpy()[:, None]).mean()


@torch.no_grad()
def main():
    torch.manual_seed(0)
    net = DescriptorNet().to(DEVICE)
    with torch.enable_grad():
        fit(net, make_split(64, seed=1), DEVICE)

    net.eval()
    index = FeatureIndex()
    for x, y in batches(make_split(96, seed=2), 32):
        index.add(net(x.to(DEVICE)), y)

    scores = {"plain": [], "expanded": []}
    for x, y in batches(make_split(24, seed=3), 12):
        q = net(x.to(DEVICE))
        scores["plain"].append(precision_at_k(index, q, y, 5))
        scores["expanded"].append(precision_at_k(index, alpha_query_expansion(q, index), y, 5))
    for name, values in scores.items():
        print(f"{name:9s} P@5 {np.mean(values):.3f}")


if __name__ == "__main__":
    main()
