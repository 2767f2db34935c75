import numpy as np
import torch


def cosine_betas(steps, s=0.008):
    ts = np.linspace(0, steps, steps + 1, dtype=np.float64) / steps
    f = np.cos((ts + s) / (1 + s) * np.pi / 2) ** 2
    return np.clip(1 - f[1:] / f[:-1], 0, 0.999)


def extract(arr, t, shape):
    """Look up schedule values (a float64 NumPy array) for a batch of timesteps."""
    vals = torch.from_numpy(arr).to(device=t.device)[t].float()
    return vals.reshape(-1, *([1] * (len(shape) - 1)))


class GaussianDiffusion:
    """Schedules are kept as NumPy arrays (as in guided-diffusion), not as a module."""

    def __init__(self, steps=50):
        self.steps = steps
        self.betas = cosine_betas(steps)
        self.alphas = 1 - self.betas
        self.acp = np.cumprod(self.alphas)
        acp_prev = np.append(1.0, self.acp[:-1])
        self.post_var = self.betas * (1 - acp_prev) / (1 - self.acp)
        self.loss_sum = np.zeros(steps)
        self.loss_cnt = np.zeros(steps)

    def q_sample(self, x0, t, noise):
        a = extract(np.sqrt(self.acp), t, x0.shape)
        b = extract(np.sqrt(1 - self.acp), t, x0.shape)
        return a * x0 + b * noise

    def training_loss(self, model, x0):
        t = torch.randint(0, self.steps, (x0.shape[0],), device=x0.device)
        noise = torch.randn_like(x0)
        pred = model(self.q_sample(x0, t, noise), t)
        per_sample = (pred - noise).pow(2).flatten(1).mean(1)
        np.add.at(self.loss_sum, t.cpu().numpy(), per_sample.detach().cpu().numpy())
        np.add.at(self.loss_cnt, t.cpu().numpy(), 1)
        return per_sample.mean()

    @torch.no_grad()
    def sample(self, model, shape, stride=5):
        device = next(model.parameters()).device
        x = torch.randn(shape, device=device)
        for i in reversed(range(0, self.steps, stride)):
            t = torch.full((shape[0],), i, dtype=torch.long, device=device)
            eps = model(x, t)
            mean = (x - extract(self.betas / np.sqrt(1 - self.acp), t, shape) * eps)
            mean = mean / extract(np.sqrt(self.alphas), t, shape)
            x = mean + (i > 0) * extract(np.sqrt(self.post_var), t, shape) * torch.randn_like(x)
        return x
