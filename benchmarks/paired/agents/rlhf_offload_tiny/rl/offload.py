import contextlib
import logging

import torch

logger = logging.getLogger(__name__)


def device_of(module):
    return next(module.parameters()).device


@contextlib.contextmanager
def offloaded(module, enabled=True):
    """Keep a module in host memory inside the block."""
    if not enabled:
        yield module
        return
    home = device_of(module)
    module.cpu()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    logger.debug("offloaded %s from %s", type(module).__name__, home)
    try:
        yield module
    finally:
        module.to(home)


@contextlib.contextmanager
def evaluating(module):
    was_training = module.training
    module.eval()
    try:
        with torch.no_grad():
            yield module
    finally:
        module.train(was_training)
