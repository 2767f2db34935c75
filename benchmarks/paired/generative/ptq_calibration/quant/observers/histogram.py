import numpy as np

from .base import Observer


class EntropyObserver(Observer):
    """Histogram of absolute values, clipped where the quantisation error is lowest."""

    def __init__(self, bits=8, bins=256):
        super().__init__(bits)
        self.bins = bins
        self.hist = None
        self.edges = None

    def collect(self, x):
        values = x.abs().flatten().cpu().numpy()
        top = float(values.max())
        if self.hist is None:
            self.hist, self.edges = np.histogram(values, bins=self.bins, range=(0, top + 1e-6))
            return
        width = self.edges[1] - self.edges[0]
        if top > self.edges[-1]:
            extra = int(np.ceil((top - self.edges[-1]) / width))
            self.hist = np.concatenate([self.hist, np.zeros(extra, dtype=self.hist.dtype)])
            self.edges = np.arange(len(self.hist) + 1) * width
        self.hist = self.hist + np.histogram(values, bins=self.edges)[0]

    def amax(self):
        centers = (self.edges[:-1] + self.edges[1:]) / 2
        best, best_err = self.edges[-1], np.inf
        for clip in np.linspace(self.edges[-1] * 0.3, self.edges[-1], 24):
            step = clip / self.qmax
            q = np.clip(np.round(centers / step), 0, self.qmax) * step
            err = float((self.hist * (centers - q) ** 2).sum())
            if err < best_err:
                best, best_err = clip, err
        return float(best)
