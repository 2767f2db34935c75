import torch
import torch.nn as nn
import torch.nn.functional as F


class GumbelQuantizer(nn.Module):
    def __init__(self, dim, groups, entries, out_dim):
        super().__init__()
        self.groups, self.entries = groups, entries
        self.logits = nn.Linear(dim, groups * entries)
        self.codebook = nn.Parameter(torch.rand(1, groups * entries, out_dim // groups))
        self.temperature = 2.0
        # hard usage counts, read by the logger
        self.usage = torch.zeros(groups, entries, dtype=torch.long)

    def forward(self, x):
        b, t, _ = x.shape
        logits = self.logits(x).view(b * t * self.groups, self.entries)
        if self.training:
            probs = F.gumbel_softmax(logits.float(), tau=self.temperature, hard=True)
        else:
            probs = F.one_hot(logits.argmax(-1), self.entries).to(logits.dtype)
        self._count(probs.view(-1, self.groups, self.entries))
        soft = logits.view(-1, self.groups, self.entries).softmax(-1).mean(0)
        perplexity = torch.exp(-(soft * (soft + 1e-7).log()).sum(-1)).sum()
        vars_ = probs.view(b * t, -1, 1) * self.codebook
        vars_ = vars_.view(b * t, self.groups, self.entries, -1).sum(2)
        return vars_.reshape(b, t, -1), perplexity

    @torch.no_grad()
    def _count(self, hard):
        self.usage += hard.sum(0).long().to(self.usage.device)
