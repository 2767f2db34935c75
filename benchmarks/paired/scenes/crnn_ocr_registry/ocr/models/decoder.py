import torch

from ..registry import DECODERS


@DECODERS.register
class BigramGreedy:
    """Greedy CTC whose step scores are biased by a character bigram table."""

    def __init__(self, charset, device, weight=0.3):
        self.charset = charset
        self.weight = weight
        n = len(charset) + 1
        self.counts = torch.ones(n, n, device=device)

    def observe(self, flat, lengths):
        """Count the transitions of a batch of targets."""
        for seq in flat.to(self.counts.device).split(lengths.tolist()):
            self.counts.index_put_((seq[:-1], seq[1:]), self.counts.new_ones(len(seq) - 1), accumulate=True)

    def state_dict(self):
        return {"counts": self.counts, "weight": self.weight}

    def load_state_dict(self, state):
        self.counts = state["counts"].clone()
        self.weight = state["weight"]

    @torch.no_grad()
    def __call__(self, log_probs):
        bigram = (self.counts / self.counts.sum(1, keepdim=True)).log()
        bigram[:, 0] = 0
        bigram[0] = 0
        last = torch.zeros(log_probs.shape[1], dtype=torch.long, device=log_probs.device)
        path = []
        for step in log_probs:
            best = (step + self.weight * bigram[last]).argmax(-1)
            last = torch.where(best > 0, best, last)
            path.append(best)
        out = []
        for row in torch.stack(path, 1).tolist():
            keep = [c for k, c in enumerate(row) if c and (k == 0 or row[k - 1] != c)]
            out.append("".join(self.charset[c - 1] for c in keep))
        return out
