import torch


class Catalog:
    def __init__(self, num_items, num_tags, gen):
        self.num_items = num_items
        self.group = torch.randint(0, num_tags, (num_items,), generator=gen)
        self.tags = torch.nn.functional.one_hot(self.group, num_tags).float()
        self.tags += 0.1 * torch.rand(self.tags.shape, generator=gen)


class Visits:
    """Endless batches of (history, offsets, country, clicked item)."""

    def __init__(self, catalog, num_countries, batch_size, gen):
        self.catalog, self.num_countries, self.batch_size, self.gen = catalog, num_countries, batch_size, gen
        self.members = [torch.nonzero(catalog.group == g).squeeze(1) for g in range(catalog.tags.size(1))]
        self.members = [m for m in self.members if len(m)]

    def _pick(self, g, n):
        m = self.members[g]
        return m[torch.randint(0, len(m), (n,), generator=self.gen)]

    def sample(self):
        groups = torch.randint(0, len(self.members), (self.batch_size,), generator=self.gen).tolist()
        lens = torch.randint(2, 6, (self.batch_size,), generator=self.gen)
        hist = torch.cat([self._pick(g, int(n)) for g, n in zip(groups, lens)])
        clicked = torch.cat([self._pick(g, 1) for g in groups])
        country = torch.randint(0, self.num_countries, (self.batch_size,), generator=self.gen)
        return hist, lens.cumsum(0) - lens, country, clicked

    def __iter__(self):
        while True:
            yield self.sample()
