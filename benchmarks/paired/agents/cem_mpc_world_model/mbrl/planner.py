import torch


class CEMPlanner:
    """Cross-entropy method over action sequences, warm-started from the previous plan."""

    def __init__(self, world, reward_fn, act_low, act_high, horizon=6, candidates=32, elites=6, iters=2):
        self.world = world
        self.reward_fn = reward_fn
        self.horizon = horizon
        self.candidates = candidates
        self.elites = elites
        self.iters = iters
        self.low = torch.as_tensor(act_low, dtype=torch.float32, device=world.device)
        self.high = torch.as_tensor(act_high, dtype=torch.float32, device=world.device)
        self.reset()

    def reset(self):
        mid = (self.low + self.high) / 2
        self.mean = mid.repeat(self.horizon, 1)

    def __call__(self, obs):
        obs = torch.as_tensor(obs, device=self.world.device).expand(self.candidates, -1)
        mean, std = self.mean, ((self.high - self.low) / 2).repeat(self.horizon, 1)
        for _ in range(self.iters):
            noise = torch.randn(self.candidates, *mean.shape, device=mean.device)
            plans = torch.clamp(mean + std * noise, self.low, self.high)
            returns = self.score(obs, plans)
            best = plans[returns.topk(self.elites).indices]
            mean, std = best.mean(0), best.std(0) + 1e-3
        self.mean = torch.cat([mean[1:], mean[-1:]])
        return mean[0].cpu().numpy()

    def score(self, obs, plans):
        member = torch.randint(self.world.net.members, (len(plans),), device=plans.device)
        total = plans.new_zeros(len(plans))
        for t in range(self.horizon):
            obs = self.world.step(obs, plans[:, t], member)
            total += self.reward_fn(obs, plans[:, t])
        return total
