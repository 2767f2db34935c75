import torch

from .offload import device_of, evaluating

REWARDS = {}


def reward_function(weight):
    def register(fn):
        REWARDS[fn.__name__] = (fn, weight)
        return fn
    return register


@reward_function(weight=1.0)
def even_tokens(completions):
    """Share of even tokens."""
    return [sum(t % 2 == 0 for t in c) / len(c) for c in completions]


@reward_function(weight=0.5)
def no_repeats(completions):
    return [-sum(a == b for a, b in zip(c, c[1:])) / len(c) for c in completions]


def score(completions, reward_model=None):
    """completions: list of token lists. Returns a float tensor in host memory."""
    total = torch.zeros(len(completions))
    for fn, weight in REWARDS.values():
        total += weight * torch.tensor(fn(completions))
    if reward_model is not None:
        with evaluating(reward_model):
            ids = torch.tensor(completions, device=device_of(reward_model))
            total += 0.1 * reward_model(ids).cpu()
    return total
