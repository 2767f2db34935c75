import torch
import torch.nn.functional as F


def train_epoch(net, loader, opt, noise, device):
    net.train()
    seen, total = 0, 0.0
    for batch in loader:
        batch = batch.to(device)
        eps = noise(batch.history)
        noisy = batch.history + eps
        target = net.normalised_acceleration(noisy, batch.target + eps[:, -1])
        loss = F.mse_loss(net(noisy, batch), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(batch.sizes)
        seen += len(batch.sizes)
    return total / seen


@torch.no_grad()
def rollout(net, batch, steps, device):
    """Predicted positions, (steps, particles, 2), on the host."""
    net.eval()
    batch = batch.to(device)
    frames = []
    for _ in range(steps):
        nxt = net.integrate(batch.history, net(batch.history, batch))
        nxt = torch.minimum(nxt.clamp(min=0), batch.walls[batch.graph])
        frames.append(nxt.cpu())
        batch = batch.advance(nxt)
    return torch.stack(frames)


def rollout_error(net, dataset, collate, steps, device):
    starts = [dataset[i] for i, (_, t) in enumerate(dataset.index) if t == dataset.h]
    batch = collate(starts)
    pred = rollout(net, batch, steps, device)
    truth = torch.cat([pos[:, dataset.h : dataset.h + steps] for pos, _, _ in dataset.runs]).transpose(0, 1)
    per_scene = [e.pow(2).mean().item() for e in (pred - truth).split(batch.sizes, dim=1)]
    return sum(per_scene) / len(per_scene)
