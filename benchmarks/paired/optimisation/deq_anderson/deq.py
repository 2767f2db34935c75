import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm

from solvers import SOLVERS


class Cell(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.inject = nn.Linear(inputs, hidden)
        self.mix = spectral_norm(nn.Linear(hidden, hidden, bias=False))
        self.gain = nn.Parameter(torch.tensor(1.5))

    def forward(self, z, u):
        return torch.tanh(torch.sigmoid(self.gain) * self.mix(z) + u)


class Equilibrium(nn.Module):
    """z* = cell(z*, x); the gradient comes from a second fixed point."""

    def __init__(self, cell, forward, backward, solver="anderson"):
        super().__init__()
        self.cell = cell
        self.solve = SOLVERS[solver]
        self.settings = {"forward": forward, "backward": backward}
        self.steps = {"forward": 0, "backward": 0}

    def forward(self, x):
        u = self.cell.inject(x)
        start = u.new_zeros(u.shape)
        with torch.no_grad():
            z, self.steps["forward"] = self.solve(lambda v: self.cell(v, u), start, self.settings["forward"])
        z = self.cell(z, u)
        if not torch.is_grad_enabled():
            return z
        z0 = z.detach().requires_grad_(True)
        f0 = self.cell(z0, u.detach())

        def backward(grad):
            def step(v):
                return torch.autograd.grad(f0, z0, v, retain_graph=True)[0] + grad

            with torch.no_grad():
                total, self.steps["backward"] = self.solve(step, grad, self.settings["backward"])
            return total

        z.register_hook(backward)
        return z
