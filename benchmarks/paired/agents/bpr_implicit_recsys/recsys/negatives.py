import torch


class PopularityNegatives:
    """Draws negatives in proportion to (smoothed) item popularity.

    A generator of its own keeps the negatives reproducible whatever else uses the global RNG.
    """

    def __init__(self, weights, n_neg, device, seed):
        self.weights = torch.as_tensor(weights, device=device)
        self.n_neg = n_neg
        self.generator = torch.Generator(device=device)
        self.generator.manual_seed(seed)

    def __call__(self, users):
        n = users.numel() * self.n_neg
        idx = torch.multinomial(self.weights, n, replacement=True, generator=self.generator)
        return idx.view(users.numel(), self.n_neg)


class UniformNegatives:
    def __init__(self, n_items, n_neg, device, seed):
        self.n_items = n_items
        self.n_neg = n_neg
        self.device = device

    def __call__(self, users):
        return torch.randint(self.n_items, (users.numel(), self.n_neg), device=self.device)
