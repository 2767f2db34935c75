from .base import Observer


class MinMaxObserver(Observer):
    def __init__(self, bits=8):
        super().__init__(bits)
        self._amax = None

    def collect(self, x):
        cur = x.abs().max()
        self._amax = cur if self._amax is None else self._amax.maximum(cur)

    def amax(self):
        return self._amax.item()
