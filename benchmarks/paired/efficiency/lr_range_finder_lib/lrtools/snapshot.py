import torch


def _host_copy(value):
    if torch.is_tensor(value):
        return value.detach().to("cpu", copy=True)
    return value


class TrainingSnapshot:
    """Copy of weights, buffers and optimizer statistics in host memory.

    `optimizer.state_dict()` is not used because it ties the statistics to
    parameter positions; here they are keyed by name, so a snapshot can also be
    restored into an optimizer with other parameter groups.
    """

    def __init__(self, model, optimizer):
        self._model = model
        self._optimizer = optimizer
        self._weights = {k: _host_copy(v) for k, v in model.state_dict().items()}
        self._stats = {}
        for name, p in model.named_parameters():
            if p in optimizer.state:
                self._stats[name] = {k: _host_copy(v) for k, v in optimizer.state[p].items()}
        self._lrs = [g["lr"] for g in optimizer.param_groups]

    def nbytes(self):
        tensors = list(self._weights.values())
        for entry in self._stats.values():
            tensors += [v for v in entry.values() if torch.is_tensor(v)]
        return sum(t.numel() * t.element_size() for t in tensors)

    def restore(self):
        self._model.load_state_dict(self._weights)
        self._optimizer.state.clear()
        for name, p in self._model.named_parameters():
            if name not in self._stats:
                continue
            entry = self._optimizer.state[p]
            for key, value in self._stats[name].items():
                if key != "step" and torch.is_tensor(value):
                    value = value.to(p.device, copy=True)
                entry[key] = value
        for group, lr in zip(self._optimizer.param_groups, self._lrs):
            group["lr"] = lr
