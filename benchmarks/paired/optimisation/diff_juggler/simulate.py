import torch
from torch.utils.checkpoint import checkpoint

from forces import acceleration


class Recorder:
    """Keeps frames in host memory."""

    def __init__(self, every):
        self.every, self.frames = every, []

    def __call__(self, t, x):
        if t % self.every == 0:
            self.frames.append(x.detach().cpu())

    def stack(self):
        return torch.stack(self.frames).numpy()


def _chunk(scene, x, v, dt, steps):
    for _ in range(steps):
        v = v + dt * acceleration(scene, x, v)
        x = x + dt * v
    return x, v


def simulate(scene, launch, steps=80, dt=0.01, chunk=10, recorder=None):
    x = scene.position
    v = scene.velocity + launch
    for t in range(0, steps, chunk):
        x, v = checkpoint(_chunk, scene, x, v, dt, chunk, use_reentrant=False)
        if recorder is not None:
            recorder(t, x)
    return x, v
