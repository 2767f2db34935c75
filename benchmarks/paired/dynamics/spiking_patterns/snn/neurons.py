from abc import ABC, abstractmethod

import torch
import torch.nn as nn


class FastSigmoid(torch.autograd.Function):
    slope = 10.0

    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).to(v.dtype)

    @staticmethod
    def backward(ctx, grad):
        (v,) = ctx.saved_tensors
        return grad / (FastSigmoid.slope * v.abs() + 1.0) ** 2


class StatefulNeuron(nn.Module, ABC):
    """Keeps the membrane potential between calls until reset() is called."""

    def __init__(self, size, beta=0.9):
        super().__init__()
        self.size = size
        self.raw_beta = nn.Parameter(torch.logit(torch.tensor(beta)))
        self.mem = None

    @property
    def beta(self):
        return torch.sigmoid(self.raw_beta)

    def reset(self):
        self.mem = None

    def init_state(self, x):
        return x.new_zeros(x.size(0), self.size)

    def forward(self, x):
        if self.mem is None:
            self.mem = self.init_state(x)
        out, self.mem = self.step(x, self.mem)
        return out

    @abstractmethod
    def step(self, x, mem):
        ...


class LIF(StatefulNeuron):
    def __init__(self, size, beta=0.9, threshold=1.0):
        super().__init__(size, beta)
        self.threshold = threshold
        self.spike_count = 0.0

    def step(self, x, mem):
        mem = self.beta * mem + x
        spike = FastSigmoid.apply(mem - self.threshold)
        self.spike_count += spike.detach().mean().item()
        return spike, mem - spike.detach() * self.threshold


class Leaky(StatefulNeuron):
    """Non spiking readout."""

    def step(self, x, mem):
        mem = self.beta * mem + (1 - self.beta) * x
        return mem, mem


def reset_net(net):
    for m in net.modules():
        if isinstance(m, StatefulNeuron):
            m.reset()
