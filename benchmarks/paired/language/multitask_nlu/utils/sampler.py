import random


class ProportionalSampler:
    """Draws the task of every step with probability proportional to size ** alpha."""

    def __init__(self, loaders, alpha=0.5, seed=0):
        self.loaders = loaders
        self.iters = {k: iter(v) for k, v in loaders.items()}
        self.names = list(loaders)
        self.weights = [len(loaders[k].dataset) ** alpha for k in self.names]
        self.rnd = random.Random(seed)

    def draw(self):
        task = self.rnd.choices(self.names, self.weights)[0]
        try:
            batch = next(self.iters[task])
        except StopIteration:
            self.iters[task] = iter(self.loaders[task])
            batch = next(self.iters[task])
        return task, batch
