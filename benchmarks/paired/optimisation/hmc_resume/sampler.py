import torch

from adaptation import StepSize, Welford


class HMC:
    def __init__(self, log_density, dim, chains, device, leapfrog=10, step=0.05, seed=0):
        self.log_density, self.leapfrog, self.device = log_density, leapfrog, device
        # momenta come from a host generator: the same chains on every machine
        self.rng = torch.Generator().manual_seed(seed)
        self.position = 0.1 * self._normal(chains, dim)
        self.inverse_mass = torch.ones(dim, device=device)
        self.step_size = StepSize(step)
        self.moments = Welford(dim, device)
        self.iteration = 0

    def _normal(self, *shape):
        return torch.randn(*shape, generator=self.rng).to(self.device)

    def _grad(self, q):
        q = q.detach().requires_grad_(True)
        value = self.log_density(q)
        (grad,) = torch.autograd.grad(value.sum(), q)
        return value.detach(), grad

    def step(self, eps):
        q = self.position
        p = self._normal(*q.shape) / self.inverse_mass.sqrt()
        value, grad = self._grad(q)
        start = value - 0.5 * (p ** 2 * self.inverse_mass).sum(1)
        for _ in range(self.leapfrog):
            p = p + 0.5 * eps * grad
            q = q + eps * self.inverse_mass * p
            value, grad = self._grad(q)
            p = p + 0.5 * eps * grad
        end = value - 0.5 * (p ** 2 * self.inverse_mass).sum(1)
        ratio = (end - start).clamp(max=0).exp().nan_to_num(0.0)
        u = torch.rand(len(q), generator=self.rng).to(self.device)
        self.position = torch.where((u < ratio).unsqueeze(1), q, self.position)
        self.iteration += 1
        return ratio.mean().item()

    def warm_up(self, steps):
        for t in range(steps):
            accept = self.step(self.step_size.current)
            self.step_size.update(accept)
            if t >= steps // 3:
                self.moments.update(self.position)
            if t == 2 * steps // 3:
                self.inverse_mass = self.moments.variance()

    def draw(self, steps):
        kept = []
        for _ in range(steps):
            self.step(self.step_size.final())
            kept.append(self.position.cpu())
        return torch.stack(kept)

    def state_dict(self):
        return {
            "position": self.position,
            "inverse_mass": self.inverse_mass,
            "moments": self.moments.state_dict(),
            "step_size": vars(self.step_size).copy(),
            "rng": self.rng.get_state(),
            "iteration": self.iteration,
        }

    def load_state_dict(self, state):
        self.position = state["position"].to(self.device)
        self.inverse_mass.copy_(state["inverse_mass"])
        self.moments.load_state_dict(state["moments"])
        vars(self.step_size).update(state["step_size"])
        self.rng.set_state(state["rng"])
        self.iteration = state["iteration"]
