from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class CTCNet(nn.Module):
    def __init__(self, feats=8, hidden=24, labels=5):
        super().__init__()
        self.front = nn.Sequential(nn.Linear(feats, hidden), nn.ReLU())
        self.rnn = nn.GRU(hidden, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, labels + 1)

    def forward(self, frames, lengths):
        x = self.front(frames)
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        y, _ = self.rnn(packed)
        y, _ = pad_packed_sequence(y, batch_first=True, total_length=frames.size(1))
        return self.out(y).log_softmax(-1)
