"""Record what goes through a layer, forwards and backwards."""
import torch


class LayerTap:
    def __init__(self, layer):
        self.layer = layer
        self.activation = None
        self.gradient = None
        self.energy = []
        self._handle = None

    def __enter__(self):
        self._handle = self.layer.register_forward_hook(self._forward)
        return self

    def __exit__(self, *exc):
        self._handle.remove()
        self._handle = None

    def _forward(self, module, inputs, output):
        self.activation = output.detach()
        self.energy.append(output.detach().pow(2).mean().cpu())
        if output.requires_grad:
            output.register_hook(self._backward)

    def _backward(self, grad):
        self.gradient = grad.detach()

    def mean_energy(self):
        return torch.stack(self.energy).mean().item()
