import torch
import torch.nn as nn
import torch.nn.functional as F

from models import register
from models.common import QuestionEncoder, region_mask


class Attention(nn.Module):
    def __init__(self, v_dim, q_dim, mid):
        super().__init__()
        self.v = nn.Linear(v_dim, mid, bias=False)
        self.q = nn.Linear(q_dim, mid)
        self.x = nn.Linear(mid, 1)

    def forward(self, v, u, mask):
        a = self.x(torch.tanh(self.v(v) + self.q(u).unsqueeze(1))).squeeze(2)
        a = F.softmax(a.masked_fill(~mask, -1e9), dim=1)
        return (a.unsqueeze(2) * v).sum(1) + u, a


@register('stacked_attention')
class StackedAttention(nn.Module):
    def __init__(self, cfg, vocab_size, v_dim):
        super().__init__()
        d = cfg['hid_dim']
        self.q_enc = QuestionEncoder(vocab_size, cfg['emb_dim'], d)
        self.v_proj = nn.Linear(v_dim + 4, d)
        self.att = nn.ModuleList([Attention(d, d, d) for _ in range(cfg['glimpses'])])
        self.classifier = nn.Linear(d, cfg['num_answers'])

    def forward(self, image, question):
        v = torch.cat([F.normalize(image['features'], dim=2), image['boxes']], dim=2)
        v = torch.tanh(self.v_proj(v))
        mask = region_mask(image['num_boxes'], v.size(1))
        u = self.q_enc(question['tokens'], question['length'])
        maps = []
        for att in self.att:
            u, a = att(v, u, mask)
            maps.append(a)
        return self.classifier(u), torch.stack(maps, 1)
