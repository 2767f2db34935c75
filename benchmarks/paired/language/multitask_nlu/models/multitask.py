import torch
import torch.nn as nn

from .shared import AttentionPool, SharedEncoder


class MultiTaskModel(nn.Module):
    """One encoder, one head for each task.

    tasks: {name: {'type': 'single' | 'pair' | 'regression', 'n_out': int}}
    """

    def __init__(self, vocab_size, dim, tasks):
        super().__init__()
        self.tasks = tasks
        self.encoder = SharedEncoder(vocab_size, dim)
        self.pool = AttentionPool(dim)
        heads = {}
        for name, spec in tasks.items():
            width = 3 * dim if spec['type'] == 'pair' else dim
            heads[name] = nn.Sequential(nn.Linear(width, dim), nn.Tanh(), nn.Linear(dim, spec['n_out']))
        self.heads = nn.ModuleDict(heads)

    def sentence(self, ids):
        return self.pool(self.encoder(ids), ids.ne(0))

    def forward(self, task, ids_a, ids_b=None):
        a = self.sentence(ids_a)
        if self.tasks[task]['type'] == 'pair':
            b = self.sentence(ids_b)
            a = torch.cat([a, b, (a - b).abs()], dim=-1)
        out = self.heads[task](a)
        return out.squeeze(-1) if self.tasks[task]['type'] == 'regression' else out
