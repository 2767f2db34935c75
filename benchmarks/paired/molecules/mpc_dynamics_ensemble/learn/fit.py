import numpy as np
import torch


class TransitionStore:
    def __init__(self):
        self.rows = []

    def add(self, s, a, s2):
        self.rows.append((s, a, s2))

    def minibatches(self, size, steps, device, rng):
        cols = [torch.from_numpy(np.stack(c)) for c in zip(*self.rows)]
        for _ in range(steps):
            idx = torch.from_numpy(rng.integers(0, len(self.rows), size))
            yield [c[idx].to(device) for c in cols]


def fit(model, optimizer, store, steps, batch_size, device, rng):
    model.train()
    tail = []
    for batch in store.minibatches(batch_size, steps, device, rng):
        loss = model.loss(*batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        tail.append(loss.item())
    return float(np.mean(tail[-10:]))
