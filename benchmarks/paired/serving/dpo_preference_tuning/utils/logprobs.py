import torch


def sequence_logprob(logits, ids, mask):
    """Sum of the log-probabilities of the answer tokens."""
    logp = torch.log_softmax(logits[:, :-1].float(), dim=-1)
    token_logp = logp.gather(-1, ids[:, 1:].unsqueeze(-1)).squeeze(-1)
    return (token_logp * mask[:, 1:]).sum(-1)


class ReferenceTable:
    """Log-probabilities of the frozen reference policy, computed once for the whole set."""

    def __init__(self, n_rows: int):
        self.chosen = torch.zeros(n_rows)
        self.rejected = torch.zeros(n_rows)
        self.filled = torch.zeros(n_rows, dtype=torch.bool)

    def put(self, index, chosen, rejected):
        self.chosen[index] = chosen.cpu()
        self.rejected[index] = rejected.cpu()
        self.filled[index] = True

    def get(self, index, device):
        if not bool(self.filled[index].all()):
            raise KeyError("reference log-probabilities were not precomputed for this batch")
        return self.chosen[index].to(device), self.rejected[index].to(device)
