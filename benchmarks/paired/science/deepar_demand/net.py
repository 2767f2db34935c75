import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import NegativeBinomial


class DeepAR(nn.Module):
    def __init__(self, params):
        super().__init__()
        self.params = params
        self.embedding = nn.Embedding(params.n_items, params.emb_dim)
        self.lstm = nn.LSTM(1 + 2 + params.emb_dim, params.lstm_hidden,
                            num_layers=params.lstm_layers, dropout=params.dropout)
        for name, w in self.lstm.named_parameters():
            if 'bias' in name:
                # forget gate bias
                n = w.size(0)
                w.data.fill_(0.)
                w.data[n // 4:n // 2].fill_(1.)
        self.mu = nn.Linear(params.lstm_hidden, 1)
        self.alpha = nn.Linear(params.lstm_hidden, 1)

    def init_hidden(self, batch_size):
        return torch.zeros(self.params.lstm_layers, batch_size, self.params.lstm_hidden,
                           device=self.params.device)

    def init_cell(self, batch_size):
        return torch.zeros(self.params.lstm_layers, batch_size, self.params.lstm_hidden,
                           device=self.params.device)

    def forward(self, item, lag, cov, hidden, cell):
        """One step: lag is [B], cov is [B, 2]; returns mu, alpha in scaled units."""
        emb = self.embedding(item)
        inp = torch.cat([lag.unsqueeze(1), cov, emb], dim=1).unsqueeze(0)
        out, (hidden, cell) = self.lstm(inp, (hidden, cell))
        h = out.squeeze(0)
        return F.softplus(self.mu(h)).squeeze(1), F.softplus(self.alpha(h)).squeeze(1), hidden, cell


def neg_binomial(mu, alpha, scale):
    mu = mu * scale + 1e-4
    r = 1.0 / (alpha / scale.sqrt() + 1e-4)
    return NegativeBinomial(total_count=r, logits=torch.log(mu) - torch.log(r), validate_args=False)


def nll(mu, alpha, scale, y):
    return -neg_binomial(mu, alpha, scale).log_prob(y).mean()
