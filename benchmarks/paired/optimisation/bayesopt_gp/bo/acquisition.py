import math

import torch


def expected_improvement(model, best):
    def score(q):
        mean, variance = model.posterior(q)
        sigma = variance.sqrt()
        u = (mean - best) / sigma
        pdf = torch.exp(-0.5 * u ** 2) / math.sqrt(2 * math.pi)
        cdf = 0.5 * (1 + torch.erf(u / math.sqrt(2)))
        return (sigma * (u * cdf + pdf)).squeeze(-1)

    return score


def maximise(score, engine, device, raw=128, restarts=6, steps=15):
    """Sobol start points, then a few gradient steps from the best ones."""
    points = engine.draw(raw).to(device=device, dtype=torch.float64)
    with torch.no_grad():
        start = points[score(points).topk(restarts).indices]
    q = start.clone().requires_grad_(True)
    optimizer = torch.optim.Adam([q], lr=0.02)
    for _ in range(steps):
        optimizer.zero_grad()
        (-score(q).clamp_min(1e-12).log().sum()).backward()
        optimizer.step()
        with torch.no_grad():
            q.clamp_(0, 1)
    with torch.no_grad():
        return q[score(q).argmax()].detach().cpu()
