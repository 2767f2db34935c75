import torch


class CEMPlanner:
    def __init__(self, model, cost, action_dim, max_action, device, horizon=8, pop=48, elites=8, iters=2):
        self.model, self.cost, self.device = model, cost, device
        self.horizon, self.pop, self.elites, self.iters = horizon, pop, elites, iters
        self.action_dim, self.max_action = action_dim, max_action
        self.reset()

    def reset(self):
        self.mu = torch.zeros(self.horizon, self.action_dim, device=self.device)

    @torch.no_grad()
    def plan(self, obs):
        start = torch.as_tensor(obs, device=self.device)
        mu, std = self.mu, torch.full_like(self.mu, self.max_action / 2)
        for _ in range(self.iters):
            noise = torch.randn(self.pop, *mu.shape, device=self.device)
            plans = (mu + std * noise).clamp(-self.max_action, self.max_action)
            state, cost = start.expand(self.pop, -1), torch.zeros(self.pop, device=self.device)
            for k in range(self.horizon):
                state = self.model.step(state, plans[:, k])
                cost = cost + self.cost(state, plans[:, k])
            best = plans[cost.topk(self.elites, largest=False).indices]
            mu, std = best.mean(0), best.std(0) + 1e-3
        self.mu = torch.cat([mu[1:], torch.zeros_like(mu[:1])])
        return mu[0].cpu().numpy()
