"""Graph containers and mini-batching by block-diagonal union."""
from dataclasses import dataclass, replace
from typing import List, Optional

import torch


@dataclass
class Graph:
    x: torch.Tensor            # n x d
    edge_index: torch.Tensor   # 2 x m
    label: int

    @property
    def num_nodes(self):
        return self.x.shape[0]


@dataclass
class GraphBatch:
    x: torch.Tensor
    edge_index: torch.Tensor
    graph_id: torch.Tensor
    labels: torch.Tensor
    num_graphs: int
    inv_sqrt_deg: Optional[torch.Tensor] = None

    @classmethod
    def from_list(cls, graphs: List[Graph]) -> "GraphBatch":
        xs, edges, ids, labels, offset = [], [], [], [], 0
        for i, g in enumerate(graphs):
            xs.append(g.x)
            edges.append(g.edge_index + offset)
            ids.append(torch.full((g.num_nodes,), i, dtype=torch.long))
            labels.append(g.label)
            offset += g.num_nodes
        edge_index = torch.cat(edges, dim=1)
        deg = torch.bincount(edge_index[1], minlength=offset).clamp(min=1)
        return cls(torch.cat(xs), edge_index, torch.cat(ids), torch.tensor(labels),
                   len(graphs), deg.float().rsqrt())

    def to(self, device) -> "GraphBatch":
        moved = {k: v.to(device) for k, v in vars(self).items() if torch.is_tensor(v)}
        return replace(self, **moved)


def _undirected(pairs):
    e = torch.tensor(sorted(pairs)).t()
    return torch.cat([e, e.flip(0)], dim=1)


def make_cycle(n):
    return {(i, (i + 1) % n) for i in range(n)}


def make_star(n):
    return {(0, i) for i in range(1, n)}


def make_clique(n):
    return {(i, j) for i in range(n) for j in range(i + 1, n)}


FAMILIES = [make_cycle, make_star, make_clique]


def random_graph(rng, feat_dim=4):
    label = rng.randrange(len(FAMILIES))
    n = rng.randint(5, 9)
    pairs = FAMILIES[label](n)
    # noise edges
    for _ in range(rng.randint(0, 2)):
        i, j = rng.sample(range(n), 2)
        if (j, i) not in pairs:
            pairs = pairs | {(i, j)}
    edge_index = _undirected(pairs)
    x = torch.randn(n, feat_dim) * 0.1
    x[:, 0] = torch.bincount(edge_index[1], minlength=n).float() / n
    return Graph(x, edge_index, label)
