import numpy as np
import torch


def decode(heatmaps, stride):
    """NumPy arg-max with the quarter-pixel shift."""
    n, k, h, w = heatmaps.shape
    flat = heatmaps.reshape(n, k, -1).argmax(-1)
    ys, xs = flat // w, flat % w
    pts = np.stack([xs, ys], -1).astype(np.float32)
    for b in range(n):
        for j in range(k):
            x, y = xs[b, j], ys[b, j]
            if 0 < x < w - 1:
                pts[b, j, 0] += 0.25 * np.sign(heatmaps[b, j, y, x + 1] - heatmaps[b, j, y, x - 1])
            if 0 < y < h - 1:
                pts[b, j, 1] += 0.25 * np.sign(heatmaps[b, j, y + 1, x] - heatmaps[b, j, y - 1, x])
    return (pts + 0.5) * stride


class PCK:
    def __init__(self, radius):
        self.radius, self.hits, self.total = radius, 0, 0

    def add(self, pred, truth):
        d = np.linalg.norm(pred - truth, axis=-1)
        self.hits += int((d < self.radius).sum())
        self.total += d.size

    @property
    def value(self):
        return self.hits / max(self.total, 1)


@torch.inference_mode()
def evaluate(net, loader, stride, radius=4.0):
    where = next(net.parameters()).device
    was_training = net.training
    net.eval()
    metric = PCK(radius)
    for img, _, _, meta in loader:
        maps = net(img.to(where)).cpu().numpy()
        metric.add(decode(maps, stride), meta["joints"].numpy())
    net.train(was_training)
    return metric.value
