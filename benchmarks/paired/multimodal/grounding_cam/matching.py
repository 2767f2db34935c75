import torch
from torch import nn


class Vision(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.last_conv = nn.Conv2d(16, dim, 3, padding=1)

    def forward(self, x):
        return torch.relu(self.last_conv(self.stem(x)))


class PhraseMatcher(nn.Module):
    """Does the phrase describe something that is in the picture?"""

    def __init__(self, vocab=8, dim=32):
        super().__init__()
        self.vision = Vision(dim)
        self.words = nn.Embedding(vocab, dim)
        self.classify = nn.Linear(dim, 1)

    def forward(self, images, tokens):
        fmap = self.vision(images)
        query = self.words(tokens).mean(dim=1)
        gated = fmap * query[:, :, None, None]
        return self.classify(gated.amax(dim=(2, 3))).squeeze(1)
