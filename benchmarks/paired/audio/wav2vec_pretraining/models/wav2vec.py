import torch
import torch.nn as nn

from models.quantizer import GumbelQuantizer


class ConvFeatureEncoder(nn.Module):
    def __init__(self, dim, strides=(4, 4, 2)):
        super().__init__()
        layers, cin = [], 1
        for s in strides:
            layers += [nn.Conv1d(cin, dim, 2 * s, stride=s), nn.GroupNorm(1, dim), nn.GELU()]
            cin = dim
        self.layers = nn.Sequential(*layers)

    def forward(self, wav):
        return self.layers(wav.unsqueeze(1)).transpose(1, 2)


class Wav2Vec(nn.Module):
    def __init__(self, dim=24, out_dim=16, n_layers=1, groups=2, entries=8):
        super().__init__()
        self.encoder = ConvFeatureEncoder(dim)
        self.norm = nn.LayerNorm(dim)
        self.mask_emb = nn.Parameter(torch.empty(dim).uniform_())
        self.pos_conv = nn.Conv1d(dim, dim, 9, padding=4, groups=4)
        layer = nn.TransformerEncoderLayer(dim, 4, 2 * dim, dropout=0.0, batch_first=True)
        self.context = nn.TransformerEncoder(layer, n_layers, enable_nested_tensor=False)
        self.project_c = nn.Linear(dim, out_dim)
        self.quantizer = GumbelQuantizer(dim, groups, entries, out_dim)

    def features(self, wav):
        return self.norm(self.encoder(wav))

    def forward(self, wav, mask_fn=None):
        z = self.features(wav)
        mask, x = None, z
        if mask_fn is not None:
            mask = mask_fn(z.shape[:2]).to(z.device)
            x = torch.where(mask.unsqueeze(-1), self.mask_emb.to(z.dtype), z)
        x = x + self.pos_conv(x.transpose(1, 2)).transpose(1, 2)
        c = self.project_c(self.context(x))
        q, perplexity = self.quantizer(z)
        return {"context": c, "targets": q, "mask": mask, "perplexity": perplexity}
