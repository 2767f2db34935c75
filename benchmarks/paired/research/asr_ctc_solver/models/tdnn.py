import torch
import torch.nn as nn


class TDNN(nn.Module):
    def __init__(self, input_dim, vocab_size, hidden=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(input_dim, hidden, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv1d(hidden, hidden, 3, dilation=2, padding=2),
            nn.ReLU(),
            nn.Conv1d(hidden, vocab_size, 1),
        )

    def forward(self, feats, lengths):
        out = self.net(feats.transpose(1, 2)).transpose(1, 2)
        lengths = torch.div(lengths - 1, 2, rounding_mode="floor") + 1
        return out, lengths
