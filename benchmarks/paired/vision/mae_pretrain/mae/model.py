import torch
from torch import nn

from mae.pos_embed import sincos_2d


def encoder(dim: int, depth: int, heads: int) -> nn.TransformerEncoder:
    layer = nn.TransformerEncoderLayer(
        dim, heads, dim * 2, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
    return nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)


class MaskedAutoencoder(nn.Module):
    def __init__(self, masking, img_size=24, patch=6, dim=32, dec_dim=16):
        super().__init__()
        self.patch = patch
        self.masking = masking
        self.embed = nn.Conv2d(3, dim, patch, stride=patch)
        grid = img_size // patch
        self.register_buffer("pos", sincos_2d(dim, grid), persistent=False)
        self.register_buffer("dec_pos", sincos_2d(dec_dim, grid), persistent=False)
        self.encoder = encoder(dim, 2, 4)
        self.to_dec = nn.Linear(dim, dec_dim)
        self.mask_token = nn.Parameter(torch.zeros(1, 1, dec_dim))
        self.decoder = encoder(dec_dim, 1, 2)
        self.pred = nn.Linear(dec_dim, patch * patch * 3)
        nn.init.normal_(self.mask_token, std=0.02)

    def patchify(self, imgs):
        n, c, h, w = imgs.shape
        p = self.patch
        x = imgs.reshape(n, c, h // p, p, w // p, p)
        return x.permute(0, 2, 4, 3, 5, 1).reshape(n, -1, p * p * c)

    def forward(self, imgs):
        x = self.embed(imgs).flatten(2).transpose(1, 2) + self.pos
        x, mask, ids_restore = self.masking(x)
        x = self.to_dec(self.encoder(x))

        n, length = ids_restore.shape
        tokens = self.mask_token.expand(n, length - x.shape[1], -1)
        x = torch.cat([x, tokens], dim=1)
        x = x.gather(1, ids_restore.unsqueeze(-1).expand(-1, -1, x.shape[2]))
        pred = self.pred(self.decoder(x + self.dec_pos))

        target = self.patchify(imgs)
        mu, var = target.mean(-1, keepdim=True), target.var(-1, keepdim=True)
        target = (target - mu) / (var + 1e-6).sqrt()
        loss = ((pred - target) ** 2).mean(-1)
        return (loss * mask).sum() / mask.sum(), pred, mask
