import torch
import torch.nn as nn

from .neurons import LIF, Leaky


class SpikingClassifier(nn.Module):
    def __init__(self, n_in, n_hidden, n_out):
        super().__init__()
        self.fc1 = nn.Linear(n_in, n_hidden)
        self.lif1 = LIF(n_hidden)
        self.fc2 = nn.Linear(n_hidden, n_out)
        self.readout = Leaky(n_out, beta=0.8)

    def forward(self, spikes):
        """spikes: (T, B, n_in) -> readout potential (T, B, n_out)"""
        return torch.stack([self.readout(self.fc2(self.lif1(self.fc1(s)))) for s in spikes])
