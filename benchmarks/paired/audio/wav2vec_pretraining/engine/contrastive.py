import torch
import torch.nn as nn
import torch.nn.functional as F


class NegativeSampler:
    """Draws distractors among the other masked frames of the same utterance."""

    def __init__(self, n_negatives, seed):
        self.n_negatives = n_negatives
        self.generator = torch.Generator()
        self.generator.manual_seed(seed)

    def state_dict(self):
        return {"rng": self.generator.get_state()}

    def load_state_dict(self, state):
        self.generator.set_state(state["rng"])

    def __call__(self, targets):
        b, m, d = targets.shape
        idx = torch.randint(0, m - 1, (b, m * self.n_negatives), generator=self.generator)
        idx = idx.to(targets.device)
        own = torch.arange(m, device=targets.device).repeat_interleave(self.n_negatives)
        idx = idx + (idx >= own).long()
        neg = targets.gather(1, idx.unsqueeze(-1).expand(-1, -1, d))
        return neg.view(b, m, self.n_negatives, d)


class ContrastiveLoss(nn.Module):
    def __init__(self, sampler, temperature=0.1, diversity=0.1, max_perplexity=16):
        super().__init__()
        self.sampler = sampler
        self.temperature, self.diversity = temperature, diversity
        self.max_perplexity = max_perplexity

    def forward(self, out):
        mask = out["mask"]
        b = mask.size(0)
        c = out["context"][mask].view(b, -1, out["context"].size(-1))
        q = out["targets"][mask].view(b, -1, out["targets"].size(-1))
        candidates = torch.cat([q.unsqueeze(2), self.sampler(q)], dim=2)
        logits = F.cosine_similarity(c.unsqueeze(2), candidates, dim=-1) / self.temperature
        same = (candidates[:, :, 1:] == q.unsqueeze(2)).all(-1)
        logits = torch.cat([logits[:, :, :1], logits[:, :, 1:].masked_fill(same, -1e4)], dim=2)
        labels = logits.new_zeros(logits.shape[:2], dtype=torch.long)
        nce = F.cross_entropy(logits.flatten(0, 1), labels.flatten())
        penalty = (self.max_perplexity - out["perplexity"]) / self.max_perplexity
        acc = (logits.argmax(-1) == 0).float().mean()
        return nce + self.diversity * penalty, acc.detach()
