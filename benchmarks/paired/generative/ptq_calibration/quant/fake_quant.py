import torch
import torch.nn as nn
import torch.nn.functional as F

from .observers import make_observer


def fake_quantize(x, scale, qmax):
    return torch.clamp(torch.round(x / scale), -qmax - 1, qmax) * scale


class QuantMixin:
    """Adds the float / calibrate / quant switch to a layer with a weight."""

    def init_quant(self, observer, bits):
        self.mode = "float"
        self.bits = bits
        self.observer = make_observer(observer, bits=bits)
        self.register_buffer("act_scale", torch.ones(()))
        dims = self.weight.flatten(1).abs().amax(1)
        self.register_buffer("weight_scale", (dims / (2 ** (bits - 1) - 1)).detach())

    @classmethod
    def from_float(cls, mod, observer, bits):
        mod.__class__ = cls
        mod.init_quant(observer, bits)
        return mod

    def freeze(self):
        self.act_scale.fill_(self.observer.scale())
        self.observer = None
        self.mode = "quant"

    def inputs(self, x):
        if self.mode == "calibrate":
            self.observer.collect(x)
        if self.mode == "quant":
            x = fake_quantize(x, self.act_scale, 2 ** (self.bits - 1) - 1)
        return x

    def weights(self):
        if self.mode != "quant":
            return self.weight
        shape = (-1,) + (1,) * (self.weight.dim() - 1)
        return fake_quantize(self.weight, self.weight_scale.view(shape), 2 ** (self.bits - 1) - 1)


class QuantLinear(QuantMixin, nn.Linear):
    def forward(self, x):
        return F.linear(self.inputs(x), self.weights(), self.bias)


class QuantConv2d(QuantMixin, nn.Conv2d):
    def forward(self, x):
        return self._conv_forward(self.inputs(x), self.weights(), self.bias)
