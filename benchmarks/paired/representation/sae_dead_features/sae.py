import torch
import torch.nn.functional as F
from torch import nn


class SparseAutoencoder(nn.Module):
    def __init__(self, d_model, n_features):
        super().__init__()
        self.W_enc = nn.Parameter(nn.init.kaiming_uniform_(torch.empty(d_model, n_features)))
        self.W_dec = nn.Parameter(F.normalize(self.W_enc.detach().t().clone(), dim=1))
        self.b_enc = nn.Parameter(torch.zeros(n_features))
        self.b_dec = nn.Parameter(torch.zeros(d_model))

    def encode(self, x):
        return F.relu((x - self.b_dec) @ self.W_enc + self.b_enc)

    def forward(self, x):
        acts = self.encode(x)
        return acts @ self.W_dec + self.b_dec, acts

    @torch.no_grad()
    def normalize_decoder(self):
        self.W_dec.data = F.normalize(self.W_dec.data, dim=1)
