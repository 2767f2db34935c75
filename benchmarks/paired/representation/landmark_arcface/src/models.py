import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parameter import Parameter


def gem(x, p=3, eps=1e-6):
    return F.avg_pool2d(x.clamp(min=eps).pow(p), (x.size(-2), x.size(-1))).pow(1. / p)


class GeM(nn.Module):
    def __init__(self, p=3, eps=1e-6):
        super(GeM, self).__init__()
        self.p = Parameter(torch.ones(1) * p)
        self.eps = eps

    def forward(self, x):
        return gem(x, p=self.p, eps=self.eps)


class ArcMarginProduct_subcenter(nn.Module):
    def __init__(self, in_features, out_features, k=3):
        super().__init__()
        self.weight = nn.Parameter(torch.FloatTensor(out_features * k, in_features))
        nn.init.xavier_uniform_(self.weight)
        self.k = k
        self.out_features = out_features

    def forward(self, features):
        cosine_all = F.linear(F.normalize(features), F.normalize(self.weight))
        cosine_all = cosine_all.view(-1, self.out_features, self.k)
        cosine, _ = torch.max(cosine_all, dim=2)
        return cosine


class LandmarkNet(nn.Module):
    def __init__(self, out_dim, embed_dim=32):
        super().__init__()
        self.enet = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.SiLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.SiLU())
        self.pool = GeM()
        self.feat = nn.Linear(32, embed_dim)
        self.swish = nn.SiLU()
        self.metric_classify = ArcMarginProduct_subcenter(embed_dim, out_dim)

    def extract(self, x):
        return self.pool(self.enet(x))[:, :, 0, 0]

    def forward(self, x):
        x = self.extract(x)
        return F.normalize(self.swish(self.feat(x))), self.metric_classify(self.swish(self.feat(x)))
