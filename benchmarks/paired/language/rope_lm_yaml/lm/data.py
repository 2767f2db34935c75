import torch


class TokenStream:
    """Markov-like random tokens, cut into random blocks."""

    def __init__(self, cfg, vocab_size, seed):
        g = torch.Generator().manual_seed(seed)
        step = torch.randint(-2, 4, (cfg["n_tokens"],), generator=g)
        self.tokens = step.cumsum(0) % vocab_size
        self.block, self.batch = cfg["block_size"], cfg["batch_size"]
        self.g = g

    def next(self, device):
        starts = torch.randint(len(self.tokens) - self.block - 1, (self.batch,), generator=self.g).tolist()
        x = torch.stack([self.tokens[s:s + self.block] for s in starts])
        y = torch.stack([self.tokens[s + 1:s + 1 + self.block] for s in starts])
        return x.to(device), y.to(device)
