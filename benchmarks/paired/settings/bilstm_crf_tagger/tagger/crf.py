import torch
import torch.nn as nn


def bio_constraints(tags, penalty=-1e4):
    """(start, transition) scores that forbid ill-formed BIO sequences."""
    k = len(tags)
    start, trans = torch.zeros(k), torch.zeros(k, k)
    for j, b in enumerate(tags):
        if not b.startswith("I-"):
            continue
        start[j] = penalty
        for i, a in enumerate(tags):
            if a not in ("B-" + b[2:], "I-" + b[2:]):
                trans[i, j] = penalty
    return start, trans


class CRF(nn.Module):
    def __init__(self, tags):
        super().__init__()
        k = len(tags)
        self.start = nn.Parameter(torch.empty(k).uniform_(-0.1, 0.1))
        self.end = nn.Parameter(torch.empty(k).uniform_(-0.1, 0.1))
        self.trans = nn.Parameter(torch.empty(k, k).uniform_(-0.1, 0.1))
        start_c, trans_c = bio_constraints(tags)
        self.register_buffer("start_c", start_c, persistent=False)
        self.register_buffer("trans_c", trans_c, persistent=False)

    def neg_log_likelihood(self, emissions, tags, mask):
        """emissions (B, T, K), tags (B, T), mask (B, T) bool, left aligned"""
        return (self._partition(emissions, mask) - self._score(emissions, tags, mask)).mean()

    def _score(self, em, tags, mask):
        m = mask.to(em.dtype)
        score = self.start[tags[:, 0]] + em.gather(2, tags.unsqueeze(2)).squeeze(2).mul(m).sum(1)
        step = self.trans[tags[:, :-1], tags[:, 1:]]
        score = score + (step * m[:, 1:]).sum(1)
        last = tags.gather(1, mask.sum(1, keepdim=True) - 1).squeeze(1)
        return score + self.end[last]

    def _partition(self, em, mask):
        alpha = self.start + em[:, 0]
        for t in range(1, em.size(1)):
            nxt = torch.logsumexp(alpha.unsqueeze(2) + self.trans + em[:, t].unsqueeze(1), dim=1)
            alpha = torch.where(mask[:, t].unsqueeze(1), nxt, alpha)
        return torch.logsumexp(alpha + self.end, dim=1)

    @torch.no_grad()
    def viterbi(self, em, mask, constrain=False):
        start, trans = self.start, self.trans
        if constrain:
            start, trans = start + self.start_c, trans + self.trans_c
        score = start + em[:, 0]
        back = []
        for t in range(1, em.size(1)):
            best, idx = (score.unsqueeze(2) + trans).max(dim=1)
            keep = mask[:, t].unsqueeze(1)
            score = torch.where(keep, best + em[:, t], score)
            back.append(idx)
        final = (score + self.end).argmax(dim=1).tolist()
        back = torch.stack(back).cpu().numpy() if back else []
        paths = []
        for b, length in enumerate(mask.sum(1).tolist()):
            path = [final[b]]
            for t in range(length - 2, -1, -1):
                path.append(int(back[t][b][path[-1]]))
            paths.append(path[::-1])
        return paths
