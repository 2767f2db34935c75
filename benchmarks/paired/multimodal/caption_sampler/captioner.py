import torch
from torch import nn


class Captioner(nn.Module):
    """CNN features start the state of a GRU decoder."""

    BOS, EOS = 1, 2

    def __init__(self, vocab=40, hidden=48):
        super().__init__()
        self.visual = nn.Sequential(
            nn.Conv2d(3, 12, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(48, hidden)
        )
        self.embed = nn.Embedding(vocab, hidden)
        self.cell = nn.GRUCell(hidden, hidden)
        self.out = nn.Linear(hidden, vocab)

    def start(self, images):
        state = torch.tanh(self.visual(images))
        tokens = torch.full((len(images), 1), self.BOS, device=state.device)
        return state, tokens

    def step(self, token, state):
        state = self.cell(self.embed(token), state)
        return self.out(state), state
