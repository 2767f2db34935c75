"""Cross-entropy method over open-loop action sequences."""
from functools import partial

import torch

from streams import stream
from world import ACTION, cost


def draw(mean, std, count, generator):
    noise = torch.randn((count,) + mean.shape, generator=generator, device=mean.device)
    return (mean + std * noise).clamp(-1, 1)


@torch.no_grad()
def rollout_cost(model, state, plans):
    members = model.weights[0].shape[0]
    state = state.expand(members, plans.shape[0], -1)
    total = 0.0
    for t in range(plans.shape[1]):
        action = plans[:, t].expand(members, -1, -1)
        state = state + model(torch.cat([state, action], dim=2))
        total = total + cost(state, action)
    return total.mean(0)


def cem(sampler, score, mean, iterations, elites, smoothing):
    std = torch.full_like(mean, 0.7)
    for _ in range(iterations):
        plans = sampler(mean, std)
        best = plans[score(plans).topk(elites, largest=False).indices]
        mean = torch.lerp(best.mean(0), mean, smoothing)
        std = torch.lerp(best.std(0), std, smoothing)
    return mean


def make_controller(model, horizon, population, elites, iterations, smoothing):
    device = model.shift.device
    sampler = partial(draw, count=population, generator=stream("plan", device))
    memory = {"mean": torch.zeros(horizon, ACTION, device=device)}

    def control(state):
        score = partial(rollout_cost, model, state.to(device))
        mean = cem(sampler, score, memory["mean"], iterations, elites, smoothing)
        memory["mean"] = torch.cat([mean[1:], torch.zeros_like(mean[:1])])
        return mean[:1].cpu()

    return control
