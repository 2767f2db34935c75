import copy

import torch


class GraphBatch:
    """Disjoint union of graphs."""

    tensor_keys = ("z", "pos", "edge_index", "graph", "y")

    def __init__(self, **kwargs):
        self.__dict__.update(kwargs)

    def to(self, device, non_blocking=False):
        out = copy.copy(self)
        for key in self.tensor_keys:
            setattr(out, key, getattr(self, key).to(device, non_blocking=non_blocking))
        return out

    @property
    def num_atoms(self):
        return self.z.numel()


class ConformerBatch(GraphBatch):
    """Every conformer is a graph, `owner` tells to which molecule it belongs."""

    tensor_keys = GraphBatch.tensor_keys + ("owner",)

    @classmethod
    def collate(cls, molecules):
        z, pos, edges, graph, owner = [], [], [], [], []
        offset = 0
        for m, mol in enumerate(molecules):
            for xyz, e in zip(mol.pos, mol.edges):
                z.append(mol.z)
                pos.append(xyz)
                edges.append(e + offset)
                graph.append(torch.full_like(mol.z, len(owner)))
                owner.append(m)
                offset += len(mol.z)
        return cls(
            z=torch.cat(z), pos=torch.cat(pos), edge_index=torch.cat(edges, 1), graph=torch.cat(graph),
            owner=torch.tensor(owner), y=torch.tensor([m.y for m in molecules]),
            names=[m.name for m in molecules], num_graphs=len(owner), num_molecules=len(molecules),
        )
