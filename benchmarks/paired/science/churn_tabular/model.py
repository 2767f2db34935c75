import torch
import torch.nn as nn


class TabularModel(nn.Module):
    def __init__(self, cat_sizes, n_num, hidden, n_out, emb_drop):
        super().__init__()
        self.embeds = nn.ModuleList(
            [nn.Embedding(c, min(50, (c + 1) // 2)) for c in cat_sizes])
        n_emb = sum(e.embedding_dim for e in self.embeds)
        self.emb_drop = nn.Dropout(emb_drop)
        self.bn_cont = nn.BatchNorm1d(n_num)
        layers, prev = [], n_emb + n_num
        for h in hidden:
            layers.append(nn.Linear(prev, h))
            layers.append(nn.ReLU(inplace=True))
            layers.append(nn.BatchNorm1d(h))
            prev = h
        layers.append(nn.Linear(prev, n_out))
        self.layers = nn.Sequential(*layers)

    def forward(self, x_cat, x_cont):
        x = torch.cat([e(x_cat[:, i]) for i, e in enumerate(self.embeds)], 1)
        x = self.emb_drop(x)
        return self.layers(torch.cat([x, self.bn_cont(x_cont)], 1))
