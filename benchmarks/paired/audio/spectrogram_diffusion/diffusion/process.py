import torch
import torch.nn.functional as F


class GaussianDiffusion:
    def __init__(self, schedule, snr_gamma=5.0, cond_drop=0.1):
        self.schedule = schedule
        self.loss_table = schedule.min_snr(snr_gamma)
        self.cond_drop = cond_drop

    def draw_steps(self, n):
        """Stratified time steps, and their loss weights."""
        base = (torch.arange(n) + torch.rand(n)) / n
        t = (base * self.schedule.steps).long().clamp_max(self.schedule.steps - 1)
        return t, self.loss_table[t]

    def loss(self, net, x0, label):
        t, weight = self.draw_steps(len(x0))
        t, weight = t.to(x0.device), weight.to(x0.device)
        signal, sigma = self.schedule.signal_noise(t)
        noise = torch.randn_like(x0)
        drop = torch.rand(len(x0), device=x0.device) < self.cond_drop
        label = torch.where(drop, net.null_label, label)
        pred = net(signal * x0 + sigma * noise, t, label)
        per_item = F.mse_loss(pred, noise, reduction="none").mean(dim=(1, 2, 3))
        return (per_item * weight).mean(), (t.cpu(), per_item.detach().cpu())

    @torch.no_grad()
    def sample(self, net, label, shape, guidance=1.5, generator=None):
        """Yields x_t from noise to clean. Noise is drawn on the CPU so that seeds agree."""
        device = label.device
        x = torch.randn(len(label), *shape, generator=generator).to(device)
        null = torch.full_like(label, net.null_label)
        for step in reversed(range(self.schedule.steps)):
            t = torch.full((len(label),), step, device=device)
            eps_c, eps_u = net(torch.cat([x, x]), t.repeat(2), torch.cat([label, null])).chunk(2)
            eps = eps_u + guidance * (eps_c - eps_u)
            signal, noise = self.schedule.signal_noise(t)
            x0 = ((x - noise * eps) / signal).clamp(-1, 1)
            c0, ct, sigma = self.schedule.posterior(t)
            x = c0 * x0 + ct * x
            if step > 0:
                x = x + sigma * torch.randn(x.shape, generator=generator).to(device)
            yield step, x
