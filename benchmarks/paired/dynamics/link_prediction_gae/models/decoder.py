import torch
import torch.nn as nn


class BilinearDecoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.eye(dim))

    def forward(self, z, pairs):
        return ((z[pairs[0]] @ self.weight) * z[pairs[1]]).sum(-1)


class LinkPredictor(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def forward(self, x, edge_index, pairs):
        return self.decoder(self.encoder(x, edge_index), pairs)
