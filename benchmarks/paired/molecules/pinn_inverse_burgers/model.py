import torch
import torch.nn as nn
from torch.autograd import grad


class MLP(nn.Module):
    def __init__(self, widths, lower, upper):
        super().__init__()
        dims = [2, *widths, 1]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(dims[:-1], dims[1:]))
        for layer in self.layers:
            nn.init.xavier_normal_(layer.weight)
            nn.init.zeros_(layer.bias)
        self.register_buffer("lower", torch.as_tensor(lower, dtype=torch.float32))
        self.register_buffer("upper", torch.as_tensor(upper, dtype=torch.float32))

    def forward(self, tx):
        h = 2.0 * (tx - self.lower) / (self.upper - self.lower) - 1.0
        for layer in self.layers[:-1]:
            h = torch.tanh(layer(h))
        return self.layers[-1](h)


class BurgersPINN(nn.Module):
    """u(t, x) together with the unknown viscosity (in log space)."""

    def __init__(self, cfg, device):
        super().__init__()
        self.net = MLP(cfg.hidden, [0.0, -1.0], [cfg.problem.t_max, 1.0]).to(device)
        log_nu = torch.log(torch.tensor([cfg.nu_init], device=device))
        self.log_nu = nn.Parameter(log_nu)

    @property
    def nu(self):
        return torch.exp(self.log_nu)

    def residual(self, tx):
        tx = tx.detach().requires_grad_(True)
        u = self.net(tx)
        du = grad(u.sum(), tx, create_graph=True)[0]
        u_t, u_x = du[:, :1], du[:, 1:]
        u_xx = grad(u_x.sum(), tx, create_graph=True)[0][:, 1:]
        return u_t + u * u_x - self.nu * u_xx

    def loss(self, tx_data, u_data, tx_colloc):
        data = (self.net(tx_data) - u_data).pow(2).mean()
        phys = self.residual(tx_colloc).pow(2).mean()
        return data + phys, {"data": data.item(), "phys": phys.item()}
