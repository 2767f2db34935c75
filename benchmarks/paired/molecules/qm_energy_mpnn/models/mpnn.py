import torch
import torch.nn as nn

from .layers import CosineCutoff, GaussianSmearing, InteractionBlock, ScaleShift


class EnergyMPNN(nn.Module):
    def __init__(self, hidden=32, num_layers=2, num_rbf=16, cutoff=5.0, max_z=10):
        super().__init__()
        self.max_z = max_z
        self.embedding = nn.Embedding(max_z, hidden, padding_idx=0)
        self.smear = GaussianSmearing(0.0, cutoff, num_rbf)
        self.cutoff_fn = CosineCutoff(cutoff)
        self.blocks = nn.ModuleList([InteractionBlock(hidden, num_rbf) for _ in range(num_layers)])
        self.readout = nn.Sequential(nn.Linear(hidden, hidden // 2), nn.SiLU(), nn.Linear(hidden // 2, 1))
        self.scale_shift = ScaleShift()
        self.register_buffer("atomref", torch.zeros(max_z))

    def set_reference(self, atomref, mean, std):
        """Install single-atom energies and the statistics of the residual."""
        self.atomref.copy_(torch.as_tensor(atomref, dtype=self.atomref.dtype))
        self.scale_shift.mean.fill_(float(mean))
        self.scale_shift.std.fill_(float(std))

    def forward(self, batch):
        z, pos = batch["z"], batch["pos"]
        src, dst = batch["edge_index"]
        dist = (pos[src] - pos[dst]).norm(dim=-1)
        rbf, env = self.smear(dist), self.cutoff_fn(dist)

        h = self.embedding(z)
        for block in self.blocks:
            h = block(h, batch["edge_index"], rbf, env)

        atom_e = self.scale_shift(self.readout(h).squeeze(-1))
        atom_e = atom_e + self.atomref[z]
        energy = atom_e.new_zeros(batch["num_graphs"])
        return energy.index_add_(0, batch["batch"], atom_e)


def build_model(cfg):
    return EnergyMPNN(hidden=cfg["hidden"], num_layers=cfg["layers"], cutoff=cfg["cutoff"])
