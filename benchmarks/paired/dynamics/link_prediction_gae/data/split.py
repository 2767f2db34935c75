from dataclasses import dataclass

import torch


@dataclass
class EdgeSplit:
    train: torch.Tensor
    val: torch.Tensor
    test: torch.Tensor

    def sizes(self):
        return {k: getattr(self, k).size(1) for k in ("train", "val", "test")}


def random_link_split(edges, val_ratio=0.1, test_ratio=0.2, seed=0):
    g = torch.Generator().manual_seed(seed)
    perm = torch.randperm(edges.size(1), generator=g)
    n_val = int(val_ratio * len(perm))
    n_test = int(test_ratio * len(perm))
    return EdgeSplit(
        train=edges[:, perm[n_val + n_test:]],
        val=edges[:, perm[:n_val]],
        test=edges[:, perm[n_val:n_val + n_test]],
    )
