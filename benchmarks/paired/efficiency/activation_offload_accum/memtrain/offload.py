import torch
from torch.autograd.graph import saved_tensors_hooks


class OffloadActivations(saved_tensors_hooks):
    """Keeps the activations that autograd saves in host memory until the
    backward pass needs them.

    Small tensors stay where they are (the transfer costs more than it frees),
    and so do parameters, which are alive anyway.
    """

    def __init__(self, min_numel=256, half=False):
        self.min_numel = min_numel
        self.half = half
        self.moved_bytes = 0
        self.kept = 0
        super().__init__(self._pack, self._unpack)

    def _pack(self, t):
        if t.numel() < self.min_numel or isinstance(t, torch.nn.Parameter) or not t.is_floating_point():
            self.kept += 1
            return None, t
        host = t.detach().to("cpu", dtype=torch.bfloat16 if self.half else t.dtype, copy=True)
        self.moved_bytes += host.numel() * host.element_size()
        return (t.device, t.dtype), host

    def _unpack(self, packed):
        origin, t = packed
        if origin is None:
            return t
        device, dtype = origin
        return t.to(device=device, dtype=dtype)
