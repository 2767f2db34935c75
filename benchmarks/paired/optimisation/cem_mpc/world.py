"""Pendulum on a cart without the cart: state (cos, sin, velocity), action torque."""
import torch

from streams import stream

STATE, ACTION = 3, 1


def reset(n):
    angle = torch.pi + 0.3 * torch.randn(n, generator=stream("reset"))
    return torch.stack([angle.cos(), angle.sin(), torch.zeros(n)], dim=1)


def step(state, action):
    c, s, v = state.unbind(1)
    v = (v + 0.1 * (7.5 * s + 6.0 * action.squeeze(1).clamp(-1, 1))).clamp(-8, 8)
    angle = torch.atan2(s, c) + 0.1 * v
    return torch.stack([angle.cos(), angle.sin(), v], dim=1)


def cost(state, action):
    return 1 - state[..., 0] + 0.02 * state[..., 2] ** 2 + 0.01 * action.pow(2).sum(-1)


def collect(episodes, length):
    rows = []
    state = reset(episodes)
    for _ in range(length):
        action = 2 * torch.rand(episodes, ACTION, generator=stream("explore")) - 1
        nxt = step(state, action)
        rows.append((state, action, nxt - state))
        state = nxt
    return tuple(torch.cat(column) for column in zip(*rows))
