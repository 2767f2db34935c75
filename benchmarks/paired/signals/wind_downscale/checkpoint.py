from pathlib import Path

import torch


def save(path: Path, model, **meta):
    """Half precision on disk is enough for a warm start."""
    weights = {k: v.detach().half() for k, v in model.state_dict().items()}
    torch.save({"weights": weights, "meta": meta}, path)


def warm_start(model, path: Path):
    """Take over every stored tensor that fits; returns the names left alone.

    The stored tensors are adopted as they are after conversion (no second
    copy of a large trunk), so this comes before an optimizer is made.
    """
    stored = torch.load(path, map_location="cpu", weights_only=True)
    own = model.state_dict()
    fitting = {
        name: tensor.to(own[name])
        for name, tensor in stored["weights"].items()
        if name in own and own[name].shape == tensor.shape
    }
    result = model.load_state_dict(fitting, strict=False, assign=True)
    return result.missing_keys, stored["meta"]
