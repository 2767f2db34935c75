import numpy as np
import torch


class SlidingFrame:
    """The latest `length` samples of a stream.

    The acquisition thread writes into a numpy array; readers get a tensor
    of the same samples through `window`.
    """

    def __init__(self, length, device):
        self.length = length
        self.device = device
        self.filled = 0
        self._frame = np.zeros(length, dtype=np.float32)
        self._samples = torch.from_numpy(self._frame)

    def push(self, chunk):
        n = len(chunk)
        if n >= self.length:
            self._frame[:] = chunk[-self.length:]
        else:
            self._frame[:-n] = self._frame[n:].copy()
            self._frame[-n:] = chunk
        self.filled = min(self.length, self.filled + n)

    @property
    def ready(self):
        return self.filled == self.length

    @property
    def window(self):
        return self._samples.to(self.device).view(1, 1, -1)

    @property
    def peak_position(self):
        """Where the R wave sits in the frame, found on the host."""
        return int(np.abs(self._frame).argmax())
