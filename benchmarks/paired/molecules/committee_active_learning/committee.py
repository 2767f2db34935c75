import torch
from torch import nn

from offload import resident


class ScalingMixin:
    """Target scaling, kept as Python floats."""

    y_mean, y_std = 0.0, 1.0

    def fit_scaling(self, y):
        self.y_mean, self.y_std = y.mean().item(), y.std().item() + 1e-6

    def scale(self, y):
        return (y - self.y_mean) / self.y_std

    def unscale(self, y):
        return y * self.y_std + self.y_mean


class Regressor(ScalingMixin, nn.Module):
    def __init__(self, bits, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(bits, hidden), nn.ReLU(), nn.Dropout(0.1), nn.Linear(hidden, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


class Committee:
    """Members wait on the CPU and visit the accelerator one at a time."""

    def __init__(self, size, bits, device, hidden=32, lr=5e-3):
        self.device = device
        self.members = [Regressor(bits, hidden) for _ in range(size)]
        self.optims = [torch.optim.Adam(m.parameters(), lr=lr) for m in self.members]

    def __len__(self):
        return len(self.members)

    def fit(self, x, y, steps, batch_size=16):
        losses = []
        for member, opt in zip(self.members, self.optims):
            boot = torch.randint(0, len(x), (len(x),))
            member.fit_scaling(y[boot])
            xb, yb = x[boot].to(self.device), member.scale(y[boot]).to(self.device)
            with resident(member, self.device, opt):
                member.train()
                for _ in range(steps):
                    idx = torch.randint(0, len(xb), (batch_size,), device=self.device)
                    loss = (member(xb[idx]) - yb[idx]).pow(2).mean()
                    opt.zero_grad()
                    loss.backward()
                    opt.step()
                losses.append(loss.item())
        return losses

    @torch.no_grad()
    def predict(self, x, chunk=64):
        """(members, n) predictions."""
        out = torch.empty(len(self), len(x))
        x = x.to(self.device)
        for k, member in enumerate(self.members):
            with resident(member, self.device):
                member.eval()
                for start in range(0, len(x), chunk):
                    part = member.unscale(member(x[start : start + chunk]))
                    out[k, start : start + chunk] = part
        return out
