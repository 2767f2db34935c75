import numpy as np
import torch

import plant
from optimizers import CHOICES


def centred_ranks(fitness):
    ranks = np.empty(len(fitness), dtype=np.float32)
    ranks[fitness.argsort()] = np.linspace(-0.5, 0.5, len(fitness), dtype=np.float32)
    return ranks


class EvolutionStrategy:
    """Rollouts happen on ``device``, the update of the centre on the host."""

    def __init__(self, layout, population, sigma, optimizer, device, seed):
        assert population % 2 == 0
        self.layout, self.population, self.sigma, self.device = layout, population, sigma, device
        self.noise = torch.Generator().manual_seed(seed)
        self.starts = torch.Generator().manual_seed(seed + 1)
        self.centre = 0.1 * torch.randn(layout.size, generator=self.noise).to(device)
        options = dict(optimizer)
        self.master = self.centre.cpu().numpy()
        self.optimizer = CHOICES[options.pop("name")](self.master, **options)

    def ask(self):
        half = torch.randn(self.population // 2, self.layout.size, generator=self.noise)
        epsilon = torch.cat([half, -half])
        return epsilon, self.centre + self.sigma * epsilon.to(self.device)

    @torch.no_grad()
    def evaluate(self, candidates, horizon, episodes=4):
        start = plant.initial(episodes, self.device, self.starts)
        state = start.expand(len(candidates), -1, -1)
        total = torch.zeros(state.shape[:2], device=self.device)
        for _ in range(horizon):
            force = self.layout.act(candidates, state)
            state = plant.step(state, force)
            total += plant.reward(state, force)
        return total.mean(1) / horizon

    def tell(self, epsilon, fitness):
        ranks = centred_ranks(fitness.cpu().numpy())
        gradient = ranks @ epsilon.numpy() / (self.population * self.sigma)
        moved = self.optimizer.step(gradient)
        self.centre.copy_(torch.from_numpy(self.master))
        return moved
