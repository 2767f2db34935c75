import numpy as np
import torch
import torch.nn as nn
from scipy.integrate import solve_ivp


class LotkaVolterraTarget(nn.Module):
    """Log posterior of the four log rates of a predator-prey system."""

    TRUE = (0.9, 0.6, 0.5, 0.8)

    def __init__(self, t_end=4.0, steps=16, noise=0.1, seed=0):
        super().__init__()
        a, b, c, d = self.TRUE
        times = np.linspace(0, t_end, steps + 1)
        sol = solve_ivp(lambda _, s: [s[0] * (a - b * s[1]), s[1] * (c * s[0] - d)],
                        (0, t_end), [1.0, 1.0], t_eval=times, rtol=1e-8)
        rng = np.random.default_rng(seed)
        observed = np.log(sol.y.T) + noise * rng.normal(size=sol.y.T.shape)
        self.register_buffer("observed", torch.from_numpy(observed).float())
        self.dt, self.steps, self.noise = t_end / steps, steps, noise

    @staticmethod
    def drift(log_state, rates):
        prey, pred = log_state.exp().unbind(-1)
        a, b, c, d = rates.unbind(-1)
        return torch.stack([a - b * pred, c * prey - d], dim=-1)

    def simulate(self, log_rates):
        rates = log_rates.exp()
        s = rates.new_zeros(len(rates), 2)
        path = [s]
        for _ in range(self.steps):
            k1 = self.drift(s, rates)
            k2 = self.drift((s + self.dt * k1).clamp(-5, 5), rates)
            s = (s + 0.5 * self.dt * (k1 + k2)).clamp(-5, 5)
            path.append(s)
        return torch.stack(path, dim=1)

    def forward(self, log_rates):
        prior = -0.5 * (log_rates + 0.5).pow(2).sum(-1)
        resid = (self.simulate(log_rates) - self.observed) / self.noise
        return prior - 0.5 * resid.pow(2).sum((1, 2))
