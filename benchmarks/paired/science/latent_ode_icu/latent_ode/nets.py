import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence
from torchdiffeq import odeint


class BackwardGRU(nn.Module):
    """Recognition network q(z0 | x): a GRU over (dt, values)."""

    def __init__(self, dims: int, hidden: int, latent: int):
        super().__init__()
        self.gru = nn.GRU(dims + 1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 2 * latent)

    def forward(self, times, values, lengths):
        dt = torch.diff(times, dim=1, prepend=times[:, :1])
        x = torch.cat([dt.unsqueeze(-1), values], dim=-1)
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        _, h = self.gru(packed)
        mean, logvar = self.out(h[-1]).chunk(2, dim=-1)
        return mean, logvar.clamp(-8, 8)


class Dynamics(nn.Module):
    def __init__(self, latent: int, hidden: int):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(latent, hidden), nn.Tanh(), nn.Linear(hidden, latent))

    def forward(self, t, z):
        return self.net(z)


class LatentODE(nn.Module):
    def __init__(self, dims: int, latent: int = 4, hidden: int = 16, grid: int = 11):
        super().__init__()
        self.encoder = BackwardGRU(dims, hidden, latent)
        self.dynamics = Dynamics(latent, hidden)
        self.decoder = nn.Linear(latent, dims)
        self.classifier = nn.Linear(latent, 1)
        self.register_buffer("grid", torch.linspace(0, 1, grid))

    def interpolate(self, path, times):
        # path: G x B x L on self.grid, linear interpolation at times: B x T
        pos = times.clamp(0, 1) * (len(self.grid) - 1)
        lo = pos.floor().long().clamp(max=len(self.grid) - 2)
        frac = (pos - lo).unsqueeze(-1)
        path = path.transpose(0, 1)
        idx = lo.unsqueeze(-1).expand(-1, -1, path.size(-1))
        return path.gather(1, idx) * (1 - frac) + path.gather(1, idx + 1) * frac

    def forward(self, batch):
        mean, logvar = self.encoder(batch.times, batch.values, batch.lengths)
        z0 = mean + torch.randn_like(mean) * (0.5 * logvar).exp()
        path = odeint(self.dynamics, z0, self.grid, method="rk4")
        recon = self.decoder(self.interpolate(path, batch.times))
        logit = self.classifier(z0).squeeze(-1)
        return recon, logit, mean, logvar
