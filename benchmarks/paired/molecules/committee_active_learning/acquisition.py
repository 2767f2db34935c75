import torch

STRATEGIES = {}


def strategy(fn):
    STRATEGIES[fn.__name__] = fn
    return fn


@strategy
def ucb(mean, std, best, kappa=1.0):
    return mean + kappa * std


@strategy
def variance(mean, std, best):
    return std


@strategy
def expected_improvement(mean, std, best):
    normal = torch.distributions.Normal(0.0, 1.0)
    z = (mean - best) / std.clamp(min=1e-6)
    return std * (z * normal.cdf(z) + normal.log_prob(z).exp())


class Scorer:
    """Score of every candidate; members of the training set are never proposed again."""

    def __init__(self, committee, pool, name):
        self.committee, self.pool = committee, pool
        self.fn = STRATEGIES[name]

    def score(self):
        table = torch.full((len(self.pool.y),), -float("inf"))
        todo = torch.nonzero(~self.pool.labelled).squeeze(-1)
        pred = self.committee.predict(self.pool.x[todo])
        best = self.pool.y[self.pool.labelled].max()
        table[todo] = self.fn(pred.mean(0), pred.std(0), best)
        return table

    def propose(self, k):
        return self.score().topk(k).indices
