import torch

from gains import GainTable


def corrupt(gains, sky, p, q):
    g = gains.complex()
    return g[p] * g[q].conj() * sky


class SelfCal:
    """Robust least squares for antenna gains with a gradient method."""

    def __init__(self, gains: GainTable, lr: float = 0.05, huber: float = 1.0):
        self.gains = gains
        self.huber = huber
        self.optimizer = torch.optim.Adam(gains.free(), lr=lr)
        self.schedule = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.985)

    def residual(self, ms):
        return ms["vis"] - corrupt(self.gains, ms["sky"], ms["p"], ms["q"])

    def step(self, ms):
        self.optimizer.zero_grad()
        r = torch.view_as_real(self.residual(ms)).norm(dim=-1)
        quad = r.clamp(max=self.huber)
        loss = (ms["weight"] * (0.5 * quad**2 + self.huber * (r - quad))).mean()
        loss.backward()
        self.optimizer.step()
        self.schedule.step()
        return loss.item()

    @torch.no_grad()
    def flag(self, ms, n_sigma=5.0):
        """Zero the weight of outliers; returns how many were flagged."""
        r = self.residual(ms).abs()
        spread = r.median().clamp(min=1e-6)
        outlier = r > n_sigma * spread
        ms["weight"][outlier] = 0.0
        return int(outlier.sum())
