import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class FrameDropout(nn.Module):
    """Zeroes a random span of frames of each utterance."""

    def __init__(self, max_width=3):
        super().__init__()
        self.max_width = max_width

    def forward(self, x, lens):
        if not self.training:
            return x
        t = torch.arange(x.size(1), device=x.device)
        start = (torch.rand(len(lens)) * (lens - self.max_width)).long().to(x.device)
        width = torch.randint(0, self.max_width + 1, (len(lens),), device=x.device)
        hole = (t >= start[:, None]) & (t < (start + width)[:, None])
        return x.masked_fill(hole.unsqueeze(-1), 0.0)


class CTCEncoder(nn.Module):
    def __init__(self, n_feats, hidden, n_tokens, subsample=2):
        super().__init__()
        self.subsample = subsample
        self.augment = FrameDropout()
        self.prenet = nn.Conv1d(n_feats, hidden, 3, stride=subsample, padding=1)
        self.rnn = nn.GRU(hidden, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, n_tokens)

    def out_lens(self, lens):
        return torch.div(lens - 1, self.subsample, rounding_mode="floor") + 1

    def forward(self, feats, feat_lens):
        x = self.augment(feats, feat_lens)
        x = F.relu(self.prenet(x.transpose(1, 2))).transpose(1, 2)
        lens = self.out_lens(feat_lens)
        packed = pack_padded_sequence(x, lens, batch_first=True, enforce_sorted=False)
        x, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.out(x).log_softmax(dim=-1), lens
