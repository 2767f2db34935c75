import torch
import torch.nn as nn
import torch.nn.functional as F


class OrthogonalRegulariser(nn.Module):
    def forward(self, trans):
        eye = torch.eye(trans.shape[-1]).to(trans)
        return (torch.bmm(trans, trans.transpose(1, 2)) - eye).pow(2).sum((1, 2)).mean()


class PartSegLoss(nn.Module):
    def __init__(self, freq, smoothing=0.05, reg=1e-3, power=0.5):
        super().__init__()
        self.smoothing, self.reg = smoothing, reg
        self.ortho = OrthogonalRegulariser()
        weight = (1.0 / freq.clamp(min=1e-3)) ** power
        self.register_buffer("weight", weight / weight.mean())

    def forward(self, logits, target, trans):
        ce = F.cross_entropy(logits, target, weight=self.weight, label_smoothing=self.smoothing)
        return ce + self.reg * self.ortho(trans)
