import math

import torch


class SinusoidTasks:
    """y = A sin(x + p), sampled as in Finn et al. 2017"""

    def __init__(self, k_shot=10, k_query=10, device=None):
        self.k_shot, self.k_query, self.device = k_shot, k_query, device

    def sample(self, n_tasks):
        n = self.k_shot + self.k_query
        amp = torch.empty(n_tasks, 1, 1).uniform_(0.1, 5.0)
        phase = torch.empty(n_tasks, 1, 1).uniform_(0, math.pi)
        x = torch.empty(n_tasks, n, 1).uniform_(-5, 5)
        y = amp * torch.sin(x + phase)
        x, y = x.to(self.device), y.to(self.device)
        for i in range(n_tasks):
            yield (x[i, : self.k_shot], y[i, : self.k_shot]), (x[i, self.k_shot :], y[i, self.k_shot :])
