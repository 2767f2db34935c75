import logging
from dataclasses import dataclass, field
from typing import List

import torch
import torch.nn as nn

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("mpc")


@dataclass
class MPCConfig:
    horizon: int = 8
    num_samples: int = 64
    num_elites: int = 8
    iterations: int = 3
    momentum: float = 0.1
    action_low: List[float] = field(default_factory=lambda: [-1.0, -0.5])
    action_high: List[float] = field(default_factory=lambda: [1.0, 0.5])
    device: str = "auto"

    def resolve_device(self) -> torch.device:
        if self.device == "auto":
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        return torch.device(self.device)


class Car:
    """Kinematic unicycle, the 'real' system."""

    def __init__(self, state: torch.Tensor):
        self.state = state

    @staticmethod
    def f(state: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        x, y, heading = state.unbind(-1)
        speed, turn = action.unbind(-1)
        return torch.stack([x + 0.2 * speed * heading.cos(), y + 0.2 * speed * heading.sin(), heading + 0.4 * turn], -1)

    def step(self, action: torch.Tensor) -> torch.Tensor:
        self.state = self.f(self.state, action)
        return self.state


class EnsembleDynamics(nn.Module):
    """Predicts the change of the state; members share nothing."""

    def __init__(self, state_dim: int, action_dim: int, members: int = 3, hidden: int = 32):
        super().__init__()
        self.members = nn.ModuleList(
            nn.Sequential(nn.Linear(state_dim + action_dim, hidden), nn.SiLU(), nn.Linear(hidden, state_dim))
            for _ in range(members)
        )
        self.register_buffer("scale", torch.full((state_dim,), 0.2))

    def forward(self, state: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        x = torch.cat([state, action], dim=-1)
        return torch.stack([state + self.scale * m(x) for m in self.members])

    def fit(self, states, actions, next_states, steps: int = 40):
        opt = torch.optim.Adam(self.parameters(), lr=1e-2)
        for _ in range(steps):
            pred = self(states, actions)
            loss = (pred - next_states.unsqueeze(0)).pow(2).mean()
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        return loss.item()


class CEMPlanner:
    def __init__(self, model: EnsembleDynamics, cost_fn, cfg: MPCConfig):
        self.model = model
        self.cost_fn = cost_fn
        self.cfg = cfg
        self.device = cfg.resolve_device()
        self.low = torch.tensor(cfg.action_low, device=self.device)
        self.high = torch.tensor(cfg.action_high, device=self.device)
        self.action_dim = len(cfg.action_low)
        self.reset()

    def reset(self):
        self.mean = torch.zeros(self.cfg.horizon, self.action_dim, device=self.device)

    @torch.no_grad()
    def plan(self, state: torch.Tensor) -> torch.Tensor:
        cfg = self.cfg
        mean = self.mean
        std = torch.ones_like(mean)
        for _ in range(cfg.iterations):
            noise = torch.randn(cfg.num_samples, *mean.shape, device=self.device)
            actions = torch.max(torch.min(mean + std * noise, self.high), self.low)
            costs = self._rollout(state, actions)
            elites = actions[costs.topk(cfg.num_elites, largest=False).indices]
            mean = cfg.momentum * mean + (1 - cfg.momentum) * elites.mean(0)
            std = elites.std(0) + 1e-3
        # warm start for the next call
        self.mean = torch.cat([mean[1:], mean[-1:]])
        return mean[0]

    def _rollout(self, state: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        s = state.expand(self.cfg.num_samples, -1)
        total = torch.zeros(self.cfg.num_samples, device=self.device)
        for t in range(self.cfg.horizon):
            preds = self.model(s, actions[:, t])
            s = preds.mean(0)
            total += self.cost_fn(s) + 0.1 * preds.std(0).sum(-1)
        return total


def collect(n: int, low: torch.Tensor, high: torch.Tensor):
    states = torch.randn(n, 3, device=low.device)
    actions = low + (high - low) * torch.rand(n, low.numel(), device=low.device)
    return states, actions, Car.f(states, actions)


def main():
    torch.manual_seed(0)
    cfg = MPCConfig()
    device = cfg.resolve_device()
    log.info("planning on %s", device.type)

    model = EnsembleDynamics(3, 2).to(device)
    goal = torch.tensor([1.0, 1.0], device=device)
    planner = CEMPlanner(model, lambda s: (s[..., :2] - goal).norm(dim=-1), cfg)

    bounds = torch.tensor([cfg.action_low, cfg.action_high], device=device)
    loss = model.fit(*collect(128, bounds[0], bounds[1]))
    log.info("model loss %.5f", loss)

    car = Car(torch.zeros(1, 3, device=device))
    for t in range(12):
        action = planner.plan(car.state)
        state = car.step(action[None])
        if t % 4 == 3:
            log.info("t=%2d distance to the goal %.3f", t, (state[0, :2] - goal).norm().item())


if __name__ == "__main__":
    main()
