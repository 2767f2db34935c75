import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class AttentionWithContext(nn.Module):
    def __init__(self, size, context_size):
        super(AttentionWithContext, self).__init__()
        self.project = nn.Linear(size, context_size)
        self.context = nn.Parameter(torch.empty(context_size).normal_(0.0, 0.05))

    def forward(self, x, mask):
        score = torch.tanh(self.project(x)).matmul(self.context)
        alpha = torch.softmax(score.masked_fill(~mask, -1e9), dim=1)
        return (alpha.unsqueeze(2) * x).sum(dim=1), alpha


def run_packed(gru, x, lengths):
    """Runs a GRU over padded sequences; the output keeps the padded length."""
    packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
    out, _ = gru(packed)
    out, _ = pad_packed_sequence(out, batch_first=True, total_length=x.size(1))
    return out


class WordAttNet(nn.Module):
    def __init__(self, vocab_size, embed_size, hidden_size):
        super(WordAttNet, self).__init__()
        self.lookup = nn.Embedding(vocab_size, embed_size, padding_idx=0)
        self.gru = nn.GRU(embed_size, hidden_size, bidirectional=True, batch_first=True)
        self.attention = AttentionWithContext(2 * hidden_size, 2 * hidden_size)

    def forward(self, words, lengths):
        out = run_packed(self.gru, self.lookup(words), lengths)
        return self.attention(out, words.ne(0))
