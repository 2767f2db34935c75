import torch
from torch_geometric.data import Data
from torch_geometric.utils import degree

ATOMS = ["C", "N", "O", "F", "S"]
ATOM_MASS = torch.tensor([12.011, 14.007, 15.999, 18.998, 32.06])


class RandomMolecules:
    """Random trees with a few ring closures, labelled by simple descriptors."""

    target_names = ["mass", "branching", "polarity"]
    num_atom_types = len(ATOMS)
    num_bond_types = 3

    def __init__(self, n, seed=0, min_atoms=4, max_atoms=10):
        g = torch.Generator().manual_seed(seed)
        self.mols = [self._make(g, min_atoms, max_atoms) for _ in range(n)]

    def _make(self, g, lo, hi):
        n = int(torch.randint(lo, hi + 1, (1,), generator=g))
        probs = torch.tensor([0.6, 0.15, 0.15, 0.05, 0.05])
        z = torch.multinomial(probs, n, replacement=True, generator=g)
        src, dst = [], []
        for i in range(1, n):
            j = int(torch.randint(0, i, (1,), generator=g))
            src.append(i)
            dst.append(j)
        if n > 5 and torch.rand(1, generator=g) < 0.5:
            src.append(n - 1)
            dst.append(0)
        bond = torch.randint(0, self.num_bond_types, (len(src),), generator=g)
        edge_index = torch.tensor([src + dst, dst + src])
        deg = degree(edge_index[0], n)
        hetero = (z > 0).float()
        y = torch.stack([
            ATOM_MASS[z].sum(),
            deg.pow(2).mean(),
            hetero.mean() + 0.1 * bond.float().mean(),
        ])
        return Data(z=z, edge_index=edge_index, edge_type=torch.cat([bond, bond]),
                    y=y.unsqueeze(0), num_nodes=n)

    def __len__(self):
        return len(self.mols)

    def __getitem__(self, i):
        return self.mols[i]


def split(dataset, fractions):
    n = len(dataset)
    perm = torch.randperm(n).tolist()
    a = int(fractions[0] * n)
    b = a + int(fractions[1] * n)
    return ([dataset[i] for i in perm[:a]],
            [dataset[i] for i in perm[a:b]],
            [dataset[i] for i in perm[b:]])
