import random

import torch
import yaml


def select_device(device=''):
    if device.lower() == 'cpu' or not torch.cuda.is_available():
        return torch.device('cpu')
    return torch.device('cuda:' + (device or '0'))


def load_cfg(path):
    with open(path) as f:
        return yaml.safe_load(f)


def synthetic_batch(n, size, nc):
    images = torch.rand(n, 3, size, size) * 0.2
    targets = []
    for i in range(n):
        for _ in range(random.randint(1, 3)):
            c = random.randrange(nc)
            w, h = random.randint(8, 30), random.randint(8, 30)
            x, y = random.randint(0, size - w), random.randint(0, size - h)
            images[i, c % 3, y:y + h, x:x + w] += 0.3 + 0.2 * c
            targets.append([i, c, x + w / 2, y + h / 2, w, h])
    return images, torch.tensor(targets)


def xywh2xyxy(x):
    y = x.clone()
    y[..., :2] = x[..., :2] - x[..., 2:4] / 2
    y[..., 2:4] = x[..., :2] + x[..., 2:4] / 2
    return y
