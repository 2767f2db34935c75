import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence


class QuestionEncoder(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.embed = nn.Embedding(vocab, 24, padding_idx=0)
        self.rnn = nn.GRU(24, hidden, batch_first=True)

    def forward(self, tokens, lengths):
        packed = pack_padded_sequence(self.embed(tokens), lengths, batch_first=True, enforce_sorted=False)
        _, h = self.rnn(packed)
        return h[-1]


class RegionAttention(nn.Module):
    def __init__(self, region_dim, hidden):
        super().__init__()
        self.v_proj = nn.Linear(region_dim, hidden)
        self.q_proj = nn.Linear(hidden, hidden)
        self.score = nn.Linear(hidden, 1)

    @staticmethod
    def pad(regions):
        feats = pad_sequence(regions, batch_first=True)
        counts = torch.tensor([len(r) for r in regions], device=feats.device)
        valid = torch.arange(feats.shape[1], device=feats.device)[None] < counts[:, None]
        return feats, valid

    def forward(self, regions, query):
        feats, valid = self.pad(regions)
        v = self.v_proj(feats)
        joint = torch.tanh(v + self.q_proj(query).unsqueeze(1))
        logits = self.score(joint).squeeze(-1).masked_fill(~valid, -1e4)
        weights = logits.softmax(dim=-1)
        return (weights.unsqueeze(-1) * v).sum(1), weights


class BottomUpVQA(nn.Module):
    def __init__(self, vocab=30, region_dim=12, hidden=32, n_answers=5):
        super().__init__()
        self.question = QuestionEncoder(vocab, hidden)
        self.attend = RegionAttention(region_dim, hidden)
        self.head = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, n_answers))

    def forward(self, batch):
        q = self.question(batch.question, batch.question_len)
        v, weights = self.attend(batch.regions, q)
        return self.head(q * v + v), weights
