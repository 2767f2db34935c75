import torch
import torch.nn as nn


def mlp(*dims):
    layers = []
    for a, b in zip(dims[:-1], dims[1:]):
        layers += [nn.Conv1d(a, b, 1), nn.BatchNorm1d(b), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers)


class TNet(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k
        self.conv = mlp(k, 16, 32)
        self.fc = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, k * k))
        nn.init.zeros_(self.fc[-1].weight)
        nn.init.zeros_(self.fc[-1].bias)

    def forward(self, x):
        h = self.conv(x).amax(-1)
        iden = torch.eye(self.k, dtype=x.dtype, device=x.device)
        return self.fc(h).view(-1, self.k, self.k) + iden


class PointNetSeg(nn.Module):
    def __init__(self, num_parts):
        super().__init__()
        self.input_tnet = TNet(3)
        self.local = mlp(3, 16, 16)
        self.feat_tnet = TNet(16)
        self.deep = mlp(16, 32, 64)
        self.head = nn.Sequential(mlp(16 + 64, 32), nn.Conv1d(32, num_parts, 1))

    def forward(self, xyz):
        x = xyz.transpose(1, 2)
        x = torch.bmm(self.input_tnet(x), x)
        local = self.local(x)
        trans = self.feat_tnet(local)
        local = torch.bmm(trans, local)
        glob = self.deep(local).amax(-1, keepdim=True).expand(-1, -1, x.shape[-1])
        return self.head(torch.cat([local, glob], 1)), trans
