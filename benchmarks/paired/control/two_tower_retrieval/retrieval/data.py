from typing import Dict, NamedTuple

import torch
from torch.utils.data import DataLoader, Dataset, random_split


class Catalogue(NamedTuple):
    item_ids: torch.Tensor
    categories: torch.Tensor


class Interactions(Dataset):
    """(user, item) clicks; a few items are very popular"""

    def __init__(self, num_users: int, num_items: int, num_categories: int, interactions: int):
        g = torch.Generator().manual_seed(17)
        self.categories = torch.randint(num_categories, (num_items,), generator=g)
        taste = torch.randint(num_categories, (num_users,), generator=g)
        popularity = 1.0 / torch.arange(1, num_items + 1, dtype=torch.float)
        self.users = torch.randint(num_users, (interactions,), generator=g)
        match = (self.categories[None] == taste[:, None]).float()
        weights = popularity[None] * (0.2 + match)
        self.items = torch.multinomial(weights[self.users], 1, generator=g).squeeze(1)
        self.num_items = num_items

    def __len__(self) -> int:
        return len(self.users)

    def __getitem__(self, i: int) -> Dict[str, torch.Tensor]:
        item = self.items[i]
        return {"user_id": self.users[i], "item_id": item, "category": self.categories[item]}

    def catalogue(self) -> Catalogue:
        return Catalogue(torch.arange(self.num_items), self.categories)

    def sampling_log_prob(self) -> torch.Tensor:
        """log of the probability that an item turns up as a negative in a batch"""
        counts = torch.bincount(self.items, minlength=self.num_items).float() + 1.0
        return (counts / counts.sum()).log()


def build_loaders(dataset: Interactions, batch_size: int):
    n_val = len(dataset) // 5
    train, val = random_split(dataset, [len(dataset) - n_val, n_val], generator=torch.Generator().manual_seed(3))
    return (
        DataLoader(train, batch_size=batch_size, shuffle=True, drop_last=True),
        DataLoader(val, batch_size=batch_size),
    )
