import functools
from collections.abc import Mapping

import torch

TASKS = {}


def register(name, **defaults):
    def wrap(cls):
        cls.task_name = name
        cls.defaults = defaults
        TASKS[name] = cls
        return cls
    return wrap


def to_host(value):
    """Detaches and brings tensors to the host, inside of containers too."""
    if torch.is_tensor(value):
        return value.detach().cpu()
    if isinstance(value, Mapping):
        return {k: to_host(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(to_host(v) for v in value)
    return value


def inference(method):
    """Runs a predict method without gradients; its results come back on the host."""
    @functools.wraps(method)
    def call(self, model, batch):
        with torch.inference_mode():
            moved = {k: v.to(self.device) if torch.is_tensor(v) else v for k, v in batch.items()}
            return to_host(method(self, model, moved))
    return call
