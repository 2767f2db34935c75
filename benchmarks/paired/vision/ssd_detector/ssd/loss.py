import torch
import torch.nn as nn
import torch.nn.functional as F

from .boxes import match


class MultiBoxLoss(nn.Module):
    def __init__(self, threshold=0.4, neg_pos_ratio=3):
        super().__init__()
        self.threshold = threshold
        self.neg_pos_ratio = neg_pos_ratio

    def forward(self, loc, conf, anchors, targets):
        loc_t, cls_t = [], []
        for boxes, labels in targets:
            l, c = match(boxes, labels, anchors, self.threshold)
            loc_t.append(l)
            cls_t.append(c)
        loc_t, cls_t = torch.stack(loc_t), torch.stack(cls_t)

        pos = cls_t > 0
        n_pos = pos.sum().clamp(min=1)
        loss_loc = F.smooth_l1_loss(loc[pos], loc_t[pos], reduction="sum")

        ce = F.cross_entropy(conf.flatten(0, 1), cls_t.flatten(), reduction="none").view_as(cls_t)
        # hard negative mining
        neg_ce = ce.masked_fill(pos, 0)
        rank = neg_ce.argsort(dim=1, descending=True).argsort(dim=1)
        neg = rank < self.neg_pos_ratio * pos.sum(dim=1, keepdim=True)
        loss_conf = ce[pos | neg].sum()
        return (loss_loc + loss_conf) / n_pos
