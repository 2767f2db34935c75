import torch
import torch.nn as nn


class VONet(nn.Module):
    """Conv encoder over frame pairs + LSTM that is carried from chunk to chunk."""

    def __init__(self, feat=32, hidden=24, layers=1):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(2, 8, 3, stride=2, padding=1), nn.LeakyReLU(0.1),
            nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.LeakyReLU(0.1),
            nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(64, feat),
        )
        self.rnn = nn.LSTM(feat, hidden, layers, batch_first=True)
        self.head = nn.Linear(hidden, 6)
        self.register_buffer("motion_scale", torch.tensor([1.0, 1.0, 1.0, 0.1, 0.1, 0.1]))
        self.state = None

    @property
    def device(self):
        return self.head.weight.device

    def reset_state(self):
        self.state = None

    def detach_state(self):
        if self.state is not None:
            self.state = tuple(s.detach() for s in self.state)

    def export_state(self):
        """Host copy of the recurrent state, for checkpoints and for interruptions."""
        if self.state is None:
            return None
        return tuple(s.detach().cpu() for s in self.state)

    def import_state(self, state):
        self.state = None if state is None else tuple(s.to(self.device) for s in state)

    def forward(self, pairs):
        b, t = pairs.shape[:2]
        z = self.encoder(pairs.flatten(0, 1)).view(b, t, -1)
        out, self.state = self.rnn(z, self.state)
        return self.head(out) * self.motion_scale
