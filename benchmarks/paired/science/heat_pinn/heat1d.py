"""PINN for the 1D heat equation  u_t = alpha * u_xx  on [0,1] x [0,1].

u(0,t) = u(1,t) = 0,  u(x,0) = sin(pi x).
Exact solution: exp(-alpha pi^2 t) sin(pi x).
"""
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.set_default_device(device)
torch.manual_seed(1234)

ALPHA = 0.1
N_INTERIOR = 128
N_BOUNDARY = 32
N_INITIAL = 32
EPOCHS = 4


class MLP(nn.Module):
    def __init__(self, width=24, depth=3):
        super().__init__()
        dims = [2] + [width] * depth + [1]
        layers = []
        for i in range(len(dims) - 2):
            layers += [nn.Linear(dims[i], dims[i + 1]), nn.Tanh()]
        layers.append(nn.Linear(dims[-2], dims[-1]))
        self.net = nn.Sequential(*layers)
        for m in self.net:
            if isinstance(m, nn.Linear):
                nn.init.xavier_normal_(m.weight)
                nn.init.zeros_(m.bias)

    def forward(self, x, t):
        return self.net(torch.cat([x, t], dim=1))


def grad(out, inp):
    return torch.autograd.grad(
        out, inp, grad_outputs=torch.ones_like(out), create_graph=True
    )[0]


def pde_residual(model, xt):
    x = xt[:, 0:1].clone().requires_grad_(True)
    t = xt[:, 1:2].clone().requires_grad_(True)
    u = model(x, t)
    u_t = grad(u, t)
    u_x = grad(u, x)
    u_xx = grad(u_x, x)
    return u_t - ALPHA * u_xx


def exact(x, t):
    return torch.exp(-ALPHA * math.pi ** 2 * t) * torch.sin(math.pi * x)


def latin_hypercube(n, dim):
    cells = torch.stack([torch.randperm(n) for _ in range(dim)], dim=1)
    return (cells + torch.rand(n, dim)) / n


# collocation points
interior = latin_hypercube(N_INTERIOR, 2)

t_b = torch.rand(N_BOUNDARY, 1)
x_b = (torch.rand(N_BOUNDARY, 1) > 0.5).float()
u_b = torch.zeros(N_BOUNDARY, 1)

x_0 = torch.linspace(0, 1, N_INITIAL).unsqueeze(1)
t_0 = torch.zeros_like(x_0)
u_0 = torch.sin(math.pi * x_0)

loader = DataLoader(
    TensorDataset(interior),
    batch_size=32,
    shuffle=True,
    generator=torch.Generator(device=device),
)

model = MLP()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.95)
mse = nn.MSELoss()

for epoch in range(EPOCHS):
    running = 0.0
    for (xt,) in loader:
        opt.zero_grad()
        loss_pde = pde_residual(model, xt).pow(2).mean()
        loss_bc = mse(model(x_b, t_b), u_b)
        loss_ic = mse(model(x_0, t_0), u_0)
        loss = loss_pde + 10 * (loss_bc + loss_ic)
        loss.backward()
        opt.step()
        running += loss.item()
    sched.step()
    print(f"epoch {epoch:3d}  loss {running / len(loader):.4e}  lr {sched.get_last_lr()[0]:.2e}")

# L2 error on a regular grid
with torch.no_grad():
    gx, gt = torch.meshgrid(torch.linspace(0, 1, 21), torch.linspace(0, 1, 21), indexing="ij")
    gx, gt = gx.reshape(-1, 1), gt.reshape(-1, 1)
    pred = model(gx, gt)
    ref = exact(gx, gt)
    err = torch.linalg.norm(pred - ref) / torch.linalg.norm(ref)
print(f"relative L2 error: {err.item():.3f}")
