import abc

import torch


class Observer(abc.ABC):
    """Collects the range of an activation; plain Python object, not a module."""

    def __init__(self, bits=8):
        self.bits = bits

    @property
    def qmax(self):
        return 2 ** (self.bits - 1) - 1

    @abc.abstractmethod
    def collect(self, x: torch.Tensor) -> None:
        ...

    @abc.abstractmethod
    def amax(self) -> float:
        ...

    def scale(self) -> float:
        return max(self.amax(), 1e-8) / self.qmax
