import torch
import torch.nn as nn
from torch.nn.utils.weight_norm import weight_norm


class FCNet(nn.Module):
    def __init__(self, dims, dropout=0.0):
        super().__init__()
        layers = []
        for i, o in zip(dims[:-1], dims[1:]):
            if dropout > 0:
                layers.append(nn.Dropout(dropout))
            layers += [weight_norm(nn.Linear(i, o), dim=None), nn.ReLU()]
        self.main = nn.Sequential(*layers)

    def forward(self, x):
        return self.main(x)


class QuestionEncoder(nn.Module):
    def __init__(self, vocab_size, emb_dim, hid_dim):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, emb_dim, padding_idx=0)
        self.rnn = nn.LSTM(emb_dim, hid_dim, batch_first=True)

    def forward(self, tokens, lengths):
        x = torch.tanh(self.emb(tokens))
        weight = next(self.parameters())
        hidden = (weight.new_zeros(1, x.size(0), self.rnn.hidden_size),
                  weight.new_zeros(1, x.size(0), self.rnn.hidden_size))
        out, _ = self.rnn(x, hidden)
        last = (lengths - 1).view(-1, 1, 1).expand(-1, 1, out.size(2))
        return out.gather(1, last).squeeze(1)


def region_mask(num_boxes, max_boxes):
    r = torch.arange(max_boxes, device=num_boxes.device)
    return r[None, :] < num_boxes[:, None]
