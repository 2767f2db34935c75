"""Logit processors, looked up by name from the sampling configuration."""
import torch

PROCESSORS = {}


def register(name):
    def wrap(cls):
        PROCESSORS[name] = cls
        cls.name = name
        return cls
    return wrap


class Processor:
    def __call__(self, logits, history):
        raise NotImplementedError


@register("temperature")
class Temperature(Processor):
    def __init__(self, value=1.0):
        self.value = value

    def __call__(self, logits, history):
        return logits / self.value


@register("top_k")
class TopK(Processor):
    def __init__(self, k=10):
        self.k = k

    def __call__(self, logits, history):
        kth = logits.topk(min(self.k, logits.shape[-1]), dim=-1).values[:, -1:]
        return logits.masked_fill(logits < kth, float("-inf"))


@register("top_p")
class TopP(Processor):
    def __init__(self, p=0.9):
        self.p = p

    def __call__(self, logits, history):
        ordered, order = logits.sort(dim=-1, descending=True)
        cumulative = ordered.softmax(-1).cumsum(-1)
        drop = cumulative - ordered.softmax(-1) > self.p
        mask = torch.zeros_like(drop).scatter(1, order, drop)
        return logits.masked_fill(mask, float("-inf"))


@register("repetition")
class Repetition(Processor):
    def __init__(self, penalty=1.2):
        self.penalty = penalty

    def __call__(self, logits, history):
        seen = logits.gather(1, history)
        seen = torch.where(seen > 0, seen / self.penalty, seen * self.penalty)
        return logits.scatter(1, history, seen)


@register("ban")
class Ban(Processor):
    """Forbids token ids, given as a plain list in the configuration."""

    def __init__(self, ids=()):
        self.ids = torch.tensor(list(ids), dtype=torch.long)

    def __call__(self, logits, history):
        logits = logits.clone()
        logits[:, self.ids] = float("-inf")
        return logits


def build(specs):
    return [PROCESSORS[spec["name"]](**{k: v for k, v in spec.items() if k != "name"}) for spec in specs]
