from contextlib import contextmanager

import torch


def model_device(model):
    return next(model.parameters()).device


@contextmanager
def on_device(model, device):
    """Runs the block with the model on another device, in evaluation mode."""
    home = model_device(model)
    training = model.training
    model.to(device).eval()
    try:
        yield model
    finally:
        model.to(home).train(training)


def to_device(batch, device):
    if torch.is_tensor(batch):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, (list, tuple)):
        return type(batch)(to_device(b, device) for b in batch)
    if isinstance(batch, dict):
        return {k: to_device(v, device) for k, v in batch.items()}
    return batch


def count_parameters(model):
    return sum(p.numel() for p in model.parameters() if p.requires_grad)
