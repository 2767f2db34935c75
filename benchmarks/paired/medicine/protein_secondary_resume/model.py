import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class SSPredictor(nn.Module):
    def __init__(self, vocab, dim, layers, pad):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=pad)
        self.conv = nn.Conv1d(dim, dim, 5, padding=2)
        self.rnn = nn.GRU(dim, dim, num_layers=layers, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * dim, 3)

    def forward(self, seq, lengths):
        x = self.embed(seq)
        x = torch.relu(self.conv(x.transpose(1, 2))).transpose(1, 2) + x
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        h, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.out(h)
