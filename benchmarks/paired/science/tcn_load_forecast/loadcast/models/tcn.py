import torch.nn as nn
import torch.nn.functional as F


class CausalBlock(nn.Module):
    def __init__(self, c_in, c_out, k, dilation, dropout):
        super().__init__()
        self.pad = (k - 1) * dilation
        self.conv1 = nn.Conv1d(c_in, c_out, k, dilation=dilation)
        self.conv2 = nn.Conv1d(c_out, c_out, k, dilation=dilation)
        self.drop = nn.Dropout(dropout)
        self.skip = nn.Conv1d(c_in, c_out, 1) if c_in != c_out else nn.Identity()

    def forward(self, x):
        h = self.drop(F.relu(self.conv1(F.pad(x, (self.pad, 0)))))
        h = self.drop(F.relu(self.conv2(F.pad(h, (self.pad, 0)))))
        return F.relu(h + self.skip(x))


class TCN(nn.Module):
    def __init__(self, n_features, horizon, channels, kernel_size, dropout):
        super().__init__()
        blocks, c = [], n_features
        for i, width in enumerate(channels):
            blocks.append(CausalBlock(c, width, kernel_size, 2 ** i, dropout))
            c = width
        self.net = nn.Sequential(*blocks)
        self.head = nn.Linear(c, horizon)

    def forward(self, x):
        h = self.net(x.transpose(1, 2))
        return self.head(h[..., -1])
