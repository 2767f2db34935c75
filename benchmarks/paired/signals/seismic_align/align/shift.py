"""Differentiable time shifts of traces by fractions of a sample."""
import math

import torch


def angular_frequency(n, dt=1.0, device=None):
    return 2 * math.pi * torch.fft.rfftfreq(n, dt, device=device)


class _Shift(torch.autograd.Function):
    """y(t) = x(t - delay) by a phase ramp.

    The backward pass keeps nothing but the traces and the delays: the ramp
    is as large as the spectra and cheap to make again.
    """

    @staticmethod
    def forward(ctx, traces, delay, dt):
        ctx.save_for_backward(traces, delay)
        ctx.dt = dt
        n = traces.shape[-1]
        omega = angular_frequency(n, dt, traces.device)
        ramp = torch.exp(-1j * omega * delay[..., None])
        return torch.fft.irfft(torch.fft.rfft(traces) * ramp, n)

    @staticmethod
    def backward(ctx, grad):
        traces, delay = ctx.saved_tensors
        n = traces.shape[-1]
        omega = angular_frequency(n, ctx.dt, grad.device)
        grad_traces = grad_delay = None
        ramp = torch.exp(-1j * omega * delay[..., None])
        if ctx.needs_input_grad[0]:
            grad_traces = torch.fft.irfft(torch.fft.rfft(grad) * ramp.conj(), n)
        if ctx.needs_input_grad[1]:
            slope = torch.fft.irfft(-1j * omega * ramp * torch.fft.rfft(traces), n)
            grad_delay = (grad * slope).sum(-1)
        return grad_traces, grad_delay, None


def shift_traces(traces, delay, dt=1.0):
    return _Shift.apply(traces, delay, dt)


def self_check(device, n=64):
    """Compares the hand-written gradient with finite differences (on the host)."""
    x = torch.randn(2, n, dtype=torch.float64, requires_grad=True)
    d = torch.randn(2, dtype=torch.float64, requires_grad=True)
    ok = torch.autograd.gradcheck(lambda a, b: shift_traces(a, b)[:, ::7], (x, d), atol=1e-4)
    with torch.no_grad():
        there = shift_traces(x.float().to(device), d.float().to(device)).cpu()
        here = shift_traces(x.float(), d.float())
    return ok and torch.allclose(there, here, atol=1e-4)
