from collections import defaultdict

import torch
from torch.nn.utils.rnn import pad_sequence

from .pipeline import stage


class Bucketer:
    """Collects (tokens, label) by length and gives them out in padded batches."""

    def __init__(self, edges, size, pad=0):
        self.edges = sorted(edges)
        self.size = size
        self.pad = pad

    def bucket(self, n):
        for i, edge in enumerate(self.edges):
            if n <= edge:
                return i
        return len(self.edges)

    def collate(self, items):
        tokens = pad_sequence([t for t, _ in items], batch_first=True, padding_value=self.pad)
        lengths = torch.tensor([len(t) for t, _ in items])
        labels = torch.tensor([y for _, y in items])
        return {"tokens": tokens, "lengths": lengths, "labels": labels}

    def __call__(self, flow):
        waiting = defaultdict(list)
        for item in flow:
            group = waiting[self.bucket(len(item[0]))]
            group.append(item)
            if len(group) == self.size:
                yield self.collate(group)
                group.clear()
        for _, group in sorted(waiting.items()):
            if group:
                yield self.collate(group)


@stage
def shuffled(flow, window, generator):
    held = []
    for item in flow:
        held.append(item)
        if len(held) >= window:
            i = torch.randint(len(held), (1,), generator=generator).item()
            held[i], held[-1] = held[-1], held[i]
            yield held.pop()
    for i in torch.randperm(len(held), generator=generator).tolist():
        yield held[i]


def ship(batch, device, keep=("lengths",)):
    """Lengths stay on the host, where pack_padded_sequence wants them."""
    return {k: v if k in keep else v.to(device, non_blocking=True) for k, v in batch.items()}


@stage
def prefetched(flow, device, depth=2):
    """Starts the copies to the device some batches ahead of their use."""
    waiting, ahead = [], []
    for batch in flow:
        waiting.append(batch)
        if len(waiting) >= depth:
            ahead += [ship(b, device) for b in waiting]
            waiting = []
        while len(ahead) > depth:
            yield ahead.pop(0)
    yield from ahead
    yield from (ship(b, device) for b in waiting)


@stage
def merged(flow, smallest, pad=0):
    """Joins neighbours that have fewer than smallest rows into one batch."""
    held = None
    for batch in flow:
        held = batch if held is None else join(held, batch, pad)
        if len(held["labels"]) >= smallest:
            yield held
            held = None
    if held is not None:
        yield held


def join(a, b, pad):
    width = max(a["tokens"].shape[1], b["tokens"].shape[1])
    rows = [torch.nn.functional.pad(t, (0, width - t.shape[1]), value=pad)
            for t in (a["tokens"], b["tokens"])]
    return {"tokens": torch.cat(rows),
            "lengths": torch.cat([a["lengths"], b["lengths"]]),
            "labels": torch.cat([a["labels"], b["labels"]])}
