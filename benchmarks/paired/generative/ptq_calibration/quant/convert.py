import contextlib

import torch
import torch.nn as nn

from .fake_quant import QuantConv2d, QuantLinear, QuantMixin

SWAP = {nn.Linear: QuantLinear, nn.Conv2d: QuantConv2d}


def prepare(model, observer="minmax", bits=8, skip=()):
    for name, mod in list(model.named_modules()):
        if type(mod) in SWAP and name not in skip:
            SWAP[type(mod)].from_float(mod, observer, bits)
    return model


def quant_layers(model):
    return [m for m in model.modules() if isinstance(m, QuantMixin)]


@contextlib.contextmanager
def calibration(model):
    layers = quant_layers(model)
    was_training = model.training
    model.eval()
    for layer in layers:
        layer.mode = "calibrate"
    with torch.no_grad():
        yield layers
    for layer in layers:
        layer.freeze()
    model.train(was_training)


def calibrate(model, loader, max_batches=4):
    device = next(model.parameters()).device
    with calibration(model):
        for i, (x, _) in enumerate(loader):
            if i == max_batches:
                break
            model(x.to(device))
    return model
