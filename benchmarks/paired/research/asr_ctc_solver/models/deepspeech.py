import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class MaskConv(nn.Module):
    """Zeroes the frames past each utterance's end after every layer."""

    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x, lengths):
        for layer in self.layers:
            x = layer(x)
            if isinstance(layer, nn.Conv1d):
                lengths = torch.div(lengths - 1, layer.stride[0], rounding_mode="floor") + 1
            mask = torch.arange(x.size(2), device=x.device)[None, :] >= lengths[:, None].to(x.device)
            x = x.masked_fill(mask.unsqueeze(1), 0)
        return x, lengths


class DeepSpeechLite(nn.Module):
    def __init__(self, input_dim, vocab_size, hidden=16):
        super().__init__()
        self.conv = MaskConv([
            nn.Conv1d(input_dim, hidden, 5, stride=2, padding=2),
            nn.BatchNorm1d(hidden),
            nn.Hardtanh(0, 20),
        ])
        self.rnn = nn.GRU(hidden, hidden, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * hidden, vocab_size)

    def forward(self, feats, lengths):
        x, lengths = self.conv(feats.transpose(1, 2), lengths)
        packed = pack_padded_sequence(x.transpose(1, 2), lengths.cpu(), batch_first=True, enforce_sorted=False)
        out, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.fc(out), lengths
