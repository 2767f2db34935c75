import torch


def get_device(prefer=None):
    if prefer:
        return torch.device(prefer)
    return torch.device('cuda' if torch.cuda.is_available() else 'cpu')


def move(obj, device):
    """Moves tensors in nested containers."""
    if torch.is_tensor(obj):
        return obj.to(device)
    if isinstance(obj, dict):
        return {k: move(v, device) for k, v in obj.items()}
    if isinstance(obj, (list, tuple)):
        return type(obj)(move(v, device) for v in obj)
    return obj
