import torch
from torch import nn
import torch.nn.functional as F


class DualEncoder(nn.Module):
    """Small image and text towers that share an embedding space."""

    def __init__(self, vocab=50, dim=32):
        super().__init__()
        self.dim = dim
        self.text = nn.EmbeddingBag(vocab, dim, mode="mean")
        self.image = nn.Sequential(nn.Flatten(), nn.Linear(3 * 8 * 8, 64), nn.GELU(), nn.Linear(64, dim))

    @property
    def device(self):
        return self.text.weight.device

    @torch.inference_mode()
    def encode_images(self, images, batch_size=64):
        outs = []
        for chunk in images.split(batch_size):
            outs.append(F.normalize(self.image(chunk.to(self.device)), dim=-1).cpu())
        return torch.cat(outs)

    @torch.inference_mode()
    def encode_text(self, token_lists):
        flat = torch.tensor([t for toks in token_lists for t in toks], device=self.device)
        lengths = torch.tensor([0] + [len(t) for t in token_lists[:-1]])
        offsets = lengths.cumsum(0).to(self.device)
        return F.normalize(self.text(flat, offsets), dim=-1)
