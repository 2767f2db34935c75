import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from vocab import BOS, PAD


class Encoder(nn.Module):
    def __init__(self, vocab_size, dim):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim, padding_idx=PAD)
        self.rnn = nn.GRU(dim, dim // 2, bidirectional=True, batch_first=True)

    def forward(self, src, lengths):
        packed = pack_padded_sequence(self.embed(src), lengths, batch_first=True, enforce_sorted=False)
        out, h = self.rnn(packed)
        out, _ = pad_packed_sequence(out, batch_first=True)
        return out, torch.cat([h[0], h[1]], dim=-1)


class LuongDecoder(nn.Module):
    def __init__(self, vocab_size, dim):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim, padding_idx=PAD)
        self.cell = nn.GRUCell(2 * dim, dim)
        self.attn = nn.Linear(dim, dim, bias=False)
        self.combine = nn.Linear(2 * dim, dim)
        self.out = nn.Linear(dim, vocab_size)

    def step(self, token, state, memory, memory_mask):
        h, feed = state
        h = self.cell(torch.cat([self.embed(token), feed], dim=-1), h)
        score = torch.bmm(memory, self.attn(h).unsqueeze(2)).squeeze(2)
        score = score.masked_fill(~memory_mask, float('-inf'))
        context = torch.bmm(F.softmax(score, dim=1).unsqueeze(1), memory).squeeze(1)
        feed = torch.tanh(self.combine(torch.cat([h, context], dim=-1)))
        return self.out(feed), (h, feed)


class NMT(nn.Module):
    def __init__(self, src_size, tgt_size, dim=32):
        super().__init__()
        self.encoder = Encoder(src_size, dim)
        self.decoder = LuongDecoder(tgt_size, dim)

    @property
    def device(self):
        return self.decoder.out.weight.device

    def encode(self, src, lengths):
        memory, h = self.encoder(src, lengths)
        return memory, src != PAD, (h, torch.zeros_like(h))

    def forward(self, src, lengths, tgt):
        memory, mask, state = self.encode(src, lengths)
        token = torch.full((src.size(0),), BOS, dtype=torch.long, device=src.device)
        loss = 0
        for t in range(tgt.size(1)):
            logits, state = self.decoder.step(token, state, memory, mask)
            loss = loss + F.cross_entropy(logits, tgt[:, t], ignore_index=PAD, reduction='sum')
            token = tgt[:, t]
        return loss / (tgt != PAD).sum()
