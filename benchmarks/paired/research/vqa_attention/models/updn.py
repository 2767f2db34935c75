import torch
import torch.nn as nn
import torch.nn.functional as F

from models import register
from models.common import FCNet, QuestionEncoder, region_mask


@register('updn')
class BottomUpTopDown(nn.Module):
    def __init__(self, cfg, vocab_size, v_dim):
        super().__init__()
        d = cfg['hid_dim']
        self.q_enc = QuestionEncoder(vocab_size, cfg['emb_dim'], d)
        self.v_att = FCNet([v_dim + d, d])
        self.score = nn.Linear(d, 1)
        self.q_net = FCNet([d, d])
        self.v_net = FCNet([v_dim, d])
        self.classifier = nn.Linear(d, cfg['num_answers'])

    def forward(self, image, question):
        v = image['features']
        q = self.q_enc(question['tokens'], question['length'])
        logits = self.score(self.v_att(torch.cat([v, q.unsqueeze(1).expand(-1, v.size(1), -1)], 2))).squeeze(2)
        mask = region_mask(image['num_boxes'], v.size(1))
        a = F.softmax(logits.masked_fill(~mask, -1e9), dim=1)
        joint = self.q_net(q) * self.v_net((a.unsqueeze(2) * v).sum(1))
        return self.classifier(joint), a.unsqueeze(1)
