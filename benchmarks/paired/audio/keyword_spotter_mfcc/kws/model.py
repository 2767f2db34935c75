import torch.nn as nn


class SeparableBlock(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.depth = nn.Conv1d(cin, cin, 5, padding=2, groups=cin, bias=False)
        self.point = nn.Conv1d(cin, cout, 1, bias=False)
        self.bn = nn.BatchNorm1d(cout)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(self.bn(self.point(self.depth(x))))


class KeywordNet(nn.Module):
    def __init__(self, frontend, n_classes, cfg):
        super().__init__()
        self.frontend = frontend
        dims = [frontend.dct.size(0)] + list(cfg.channels)
        self.blocks = nn.Sequential(*[SeparableBlock(a, b) for a, b in zip(dims, dims[1:])])
        self.dropout = nn.Dropout(cfg.dropout)
        self.fc = nn.Linear(dims[-1], n_classes)

    def forward(self, wav):
        x = self.blocks(self.frontend(wav))
        return self.fc(self.dropout(x.mean(dim=-1)))
