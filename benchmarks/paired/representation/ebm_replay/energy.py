import torch as t, torch.nn as nn


class F(nn.Module):
    """Energy head on a small conv net, logits are kept for JEM style training."""

    def __init__(self, width=16, n_classes=4):
        super(F, self).__init__()
        self.f = nn.Sequential(
            nn.Conv2d(1, width, 3, 1, 1), nn.LeakyReLU(.2),
            nn.Conv2d(width, width, 4, 2, 1), nn.LeakyReLU(.2),
            nn.Conv2d(width, 2 * width, 4, 2, 1), nn.LeakyReLU(.2))
        self.class_output = nn.Linear(2 * width, n_classes)

    def classify(self, x):
        penult_z = self.f(x).mean((2, 3))
        return self.class_output(penult_z)

    def forward(self, x, y=None):
        logits = self.classify(x)
        if y is None:
            return logits.logsumexp(1)
        return t.gather(logits, 1, y[:, None])
