import torch
import torch.nn as nn
import torch.nn.functional as F


class _RoundSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.round(x)

    @staticmethod
    def backward(ctx, grad):
        return grad


class FakeQuantize(nn.Module):
    """Asymmetric uint8 fake quantisation with moving average observers."""

    def __init__(self, bits=8, momentum=0.05):
        super().__init__()
        self.qmax = 2 ** bits - 1
        self.momentum = momentum
        self.register_buffer("lo", torch.zeros(()))
        self.register_buffer("hi", torch.zeros(()))
        self.register_buffer("seen", torch.zeros((), dtype=torch.long))

    def observe(self, x):
        lo, hi = x.detach().amin(), x.detach().amax()
        if self.seen == 0:
            self.lo.copy_(lo)
            self.hi.copy_(hi)
        else:
            self.lo.lerp_(lo, self.momentum)
            self.hi.lerp_(hi, self.momentum)
        self.seen += 1

    def qparams(self):
        scale = (self.hi - self.lo).clamp_min(1e-6) / self.qmax
        zero = torch.round(-self.lo / scale).clamp(0, self.qmax)
        return scale, zero

    def forward(self, x):
        if self.training:
            self.observe(x)
        scale, zero = self.qparams()
        q = _RoundSTE.apply(x / scale + zero).clamp(0, self.qmax)
        return (q - zero) * scale


class QuantLinear(nn.Linear):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__(in_features, out_features, bias)
        self.act_fq = FakeQuantize()

    @classmethod
    def from_float(cls, lin):
        q = cls(lin.in_features, lin.out_features, lin.bias is not None)
        q.load_state_dict(lin.state_dict(), strict=False)
        return q

    def quant_weight(self):
        scale = self.weight.detach().abs().amax(dim=1, keepdim=True).clamp_min(1e-8) / 127
        q = _RoundSTE.apply(self.weight / scale).clamp(-127, 127)
        return q, scale

    def forward(self, x):
        q, scale = self.quant_weight()
        return F.linear(self.act_fq(x), q * scale, self.bias)


def prepare_qat(module):
    for name, child in module.named_children():
        if type(child) is nn.Linear:
            setattr(module, name, QuantLinear.from_float(child))
        else:
            prepare_qat(child)
    return module
