import torch
import torch.nn as nn
import torch.nn.functional as F


class GatedResidual(nn.Module):
    def __init__(self, d, dropout=0.1):
        super().__init__()
        self.lin1, self.lin2 = nn.Linear(d, d), nn.Linear(d, 2 * d)
        self.norm, self.drop = nn.LayerNorm(d), nn.Dropout(dropout)

    def forward(self, x):
        h = self.drop(self.lin2(F.elu(self.lin1(x))))
        return self.norm(x + F.glu(h, dim=-1))


class VariableSelection(nn.Module):
    def __init__(self, n_vars, d):
        super().__init__()
        self.embed = nn.ModuleList([nn.Linear(1, d) for _ in range(n_vars)])
        self.weights = nn.Linear(n_vars + d, n_vars)

    def forward(self, x, static):
        emb = torch.stack([f(x[..., i:i + 1]) for i, f in enumerate(self.embed)], dim=-1)
        ctx = static.unsqueeze(1).expand(-1, x.size(1), -1)
        w = self.weights(torch.cat([x, ctx], -1)).softmax(-1)
        return (emb * w.unsqueeze(-2)).sum(-1)


class TemporalFusion(nn.Module):
    def __init__(self, n_series, n_calendar, d=16, heads=2, quantiles=(0.1, 0.5, 0.9)):
        super().__init__()
        self.static = nn.Embedding(n_series, d)
        self.past_vsn = VariableSelection(n_calendar + 1, d)
        self.future_vsn = VariableSelection(n_calendar, d)
        self.encoder = nn.LSTM(d, d, batch_first=True)
        self.decoder = nn.LSTM(d, d, batch_first=True)
        self.grn1, self.grn2 = GatedResidual(d), GatedResidual(d)
        self.attn = nn.MultiheadAttention(d, heads, batch_first=True)
        self.head = nn.Linear(d, len(quantiles))

    def forward(self, series, past_y, past_x, future_x):
        s = self.static(series)
        past = self.past_vsn(torch.cat([past_y.unsqueeze(-1), past_x], -1), s)
        future = self.future_vsn(future_x, s)
        state = (s.unsqueeze(0).contiguous(), torch.zeros_like(s).unsqueeze(0))
        enc, state = self.encoder(past, state)
        dec, _ = self.decoder(future, state)
        seq = self.grn1(torch.cat([enc, dec], 1) + s.unsqueeze(1))
        n, h = seq.size(1), future.size(1)
        causal = torch.ones(n, n, dtype=torch.bool, device=seq.device).triu(1)
        att, _ = self.attn(seq[:, -h:], seq, seq, attn_mask=causal[-h:], need_weights=False)
        return self.head(self.grn2(seq[:, -h:] + att))
