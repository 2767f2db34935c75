import torch


class PPO:
    def __init__(self, policy, lr=3e-3, clip=0.2, epochs=4, minibatches=4, entropy=1e-3, seed=0):
        self.policy, self.clip, self.entropy = policy, clip, entropy
        self.epochs, self.minibatches = epochs, minibatches
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=lr)
        self.order = torch.Generator().manual_seed(seed)

    def loss(self, b):
        dist = self.policy.dist(b.obs)
        ratio = (dist.log_prob(b.action) - b.logp).exp()
        adv = (b.advantage - b.advantage.mean()) / (b.advantage.std() + 1e-6)
        surrogate = torch.min(ratio * adv, ratio.clamp(1 - self.clip, 1 + self.clip) * adv).mean()
        value = (self.policy.value(b.obs) - b.returns).pow(2).mean()
        return 0.5 * value - surrogate - self.entropy * dist.entropy().mean()

    def update(self, batch):
        flat, losses = batch.flatten(), []
        for _ in range(self.epochs):
            order = torch.randperm(len(flat.obs), generator=self.order)
            for index in order.chunk(self.minibatches):
                loss = self.loss(flat.rows(index))
                self.optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.policy.parameters(), 0.5)
                self.optimizer.step()
                losses.append(loss.detach())
        return torch.stack(losses).mean().item()
