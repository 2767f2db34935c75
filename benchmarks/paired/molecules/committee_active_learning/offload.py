from contextlib import contextmanager


@contextmanager
def resident(module, device, optimizer=None):
    """Keep a module (and its optimizer state) on `device` only inside the block."""
    home = next(module.parameters()).device
    _move(module, optimizer, device)
    try:
        yield module
    finally:
        _move(module, optimizer, home)


def _move(module, optimizer, device):
    module.to(device)
    if optimizer is None:
        return
    for state in optimizer.state.values():
        for key in ("exp_avg", "exp_avg_sq"):
            if key in state:
                state[key] = state[key].to(device)
