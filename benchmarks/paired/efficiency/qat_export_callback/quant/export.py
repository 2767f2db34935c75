import numpy as np
import torch

from .fake_quant import QuantLinear


class Int8Model:
    """NumPy reference of the integer kernels on the edge device.

    `model` has to be a plain stack of QuantLinear and ReLU layers."""

    def __init__(self, model):
        self.layers = []
        for m in model.modules():
            if isinstance(m, QuantLinear):
                with torch.no_grad():
                    q, w_scale = m.quant_weight()
                    a_scale, a_zero = m.act_fq.qparams()
                self.layers.append({
                    "weight": q.numpy().astype(np.int8),
                    "w_scale": w_scale.numpy()[:, 0],
                    "a_scale": float(a_scale),
                    "a_zero": int(a_zero),
                    "bias": m.bias.detach().numpy(),
                })

    def __call__(self, x):
        for i, layer in enumerate(self.layers):
            q = np.clip(np.round(x / layer["a_scale"]) + layer["a_zero"], 0, 255).astype(np.int32)
            acc = (q - layer["a_zero"]) @ layer["weight"].astype(np.int32).T
            x = acc * layer["a_scale"] * layer["w_scale"] + layer["bias"]
            if i + 1 < len(self.layers):
                x = np.maximum(x, 0)
        return x


def size_in_bytes(int8_model):
    return sum(l["weight"].nbytes + l["bias"].nbytes + l["w_scale"].nbytes for l in int8_model.layers)
