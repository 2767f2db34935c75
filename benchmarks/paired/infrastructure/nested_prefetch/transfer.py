import torch


def to_device(obj, device, non_blocking=True):
    """Moves every tensor in a nested batch; leaves the rest as it is."""
    if torch.is_tensor(obj):
        return obj.to(device, non_blocking=non_blocking)
    if isinstance(obj, dict):
        return {k: to_device(v, device, non_blocking) for k, v in obj.items()}
    if isinstance(obj, tuple):
        return type(obj)(*[to_device(v, device, non_blocking) for v in obj])
    if isinstance(obj, list):
        return [to_device(v, device, non_blocking) for v in obj]
    return obj


def record_stream(obj, stream):
    if torch.is_tensor(obj):
        if obj.is_cuda:
            obj.record_stream(stream)
    elif isinstance(obj, dict):
        for v in obj.values():
            record_stream(v, stream)
    elif isinstance(obj, (list, tuple)):
        for v in obj:
            record_stream(v, stream)


class Prefetcher:
    """Copies the next batch on a side stream while the current one is in use."""

    def __init__(self, loader, device):
        self.loader = loader
        self.device = device
        self.stream = torch.cuda.Stream(device) if device.type == "cuda" else None

    def __len__(self):
        return len(self.loader)

    def _load(self, it):
        batch = next(it, None)
        if batch is None:
            return None
        if self.stream is None:
            return to_device(batch, self.device)
        with torch.cuda.stream(self.stream):
            return to_device(batch, self.device)

    def __iter__(self):
        it = iter(self.loader)
        batch = self._load(it)
        while batch is not None:
            if self.stream is not None:
                current = torch.cuda.current_stream(self.device)
                current.wait_stream(self.stream)
                record_stream(batch, current)
            upcoming = self._load(it)
            yield batch
            batch = upcoming
