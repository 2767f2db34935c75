from collections import defaultdict

import numpy as np
import torch

from .tasks import to_device


def evaluate(learner, loader, loss_fn, device, steps):
    """Post-adaptation query error, binned by amplitude."""
    bins = defaultdict(list)
    for batch in loader:
        amps = batch["amp"].numpy()
        batch = to_device(batch, device)
        sx, sy = batch["support"]
        qx, qy = batch["query"]
        for i, amp in enumerate(amps):
            fast = learner.adapt(sx[i], sy[i], loss_fn, steps=steps, create_graph=False)
            with torch.no_grad():
                err = loss_fn(learner.predict(fast, qx[i]), qy[i])
            bins[int(amp)].append(err.item())
    return {k: float(np.mean(v)) for k, v in sorted(bins.items())}
