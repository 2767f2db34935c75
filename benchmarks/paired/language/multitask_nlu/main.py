from collections import defaultdict

import torch
import torch.nn.functional as F

from models.multitask import MultiTaskModel
from tasks import TASKS, VOCAB, build_loaders
from utils.device import get_device, move
from utils.sampler import ProportionalSampler


def task_loss(task, out, y):
    if TASKS[task]['type'] == 'regression':
        return F.mse_loss(out, y)
    return F.cross_entropy(out, y)


def main():
    torch.manual_seed(0)
    device = get_device()
    loaders = build_loaders({'sst': 64, 'nli': 128, 'stars': 32}, batch_size=16)
    model = MultiTaskModel(VOCAB, 24, TASKS).to(device)
    print('%d parameters' % sum(p.numel() for p in model.parameters()))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

    history = defaultdict(list)
    sampler = ProportionalSampler(loaders)
    model.train()
    for step in range(24):
        task, batch = sampler.draw()
        batch = move(batch, device)
        y = batch.pop('y')
        loss = task_loss(task, model(task, **batch), y)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        history[task].append(loss.item())
    for task, losses in sorted(history.items()):
        print('%-6s %3d steps  first %.3f  last %.3f' % (task, len(losses), losses[0], losses[-1]))


if __name__ == '__main__':
    main()
