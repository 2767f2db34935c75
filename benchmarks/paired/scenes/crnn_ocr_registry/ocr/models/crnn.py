import torch.nn as nn

from ..registry import MODELS


@MODELS.register
class CRNN(nn.Module):
    def __init__(self, num_classes, channels=16, hidden=24):
        super().__init__()
        self.cnn = nn.Sequential(
            nn.Conv2d(1, channels, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(channels, channels, 3, padding=1), nn.ReLU(), nn.MaxPool2d((2, 1)),
        )
        self.rnn = nn.GRU(channels * 2, hidden, bidirectional=True)
        self.fc = nn.Linear(2 * hidden, num_classes)

    def forward(self, x):
        f = self.cnn(x)
        f = f.permute(3, 0, 1, 2).flatten(2)
        return self.fc(self.rnn(f)[0]).log_softmax(-1)
