"""A batch of inverted pendulums on carts, stepped on any device."""
import torch

STATE, ACTION = 4, 1


def initial(episodes, device, generator):
    state = 0.1 * torch.randn(episodes, STATE, generator=generator)
    return state.to(device)


def step(s, force):
    x, xd, th, thd = s.unbind(-1)
    f = 10 * force.clamp(-1, 1)
    sin, cos = th.sin(), th.cos()
    temp = (f + 0.05 * thd ** 2 * sin) / 1.1
    thdd = (9.8 * sin - cos * temp) / (0.5 * (4 / 3 - 0.1 * cos ** 2 / 1.1))
    xdd = temp - 0.05 * thdd * cos / 1.1
    return torch.stack([x + 0.04 * xd, xd + 0.04 * xdd, th + 0.04 * thd, thd + 0.04 * thdd], dim=-1)


def reward(s, force):
    upright = torch.exp(-4 * s[..., 2] ** 2 - 0.1 * s[..., 0] ** 2)
    inside = (s[..., 2].abs() < 0.8) & (s[..., 0].abs() < 4)
    return upright * inside - 0.01 * force ** 2
