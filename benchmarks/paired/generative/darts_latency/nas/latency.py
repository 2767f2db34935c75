import time

import numpy as np
import torch


@torch.no_grad()
def measure(net, length, repeats=3):
    """Milliseconds of each candidate on the deployment target, i.e. on this machine's CPU."""
    mixed = net.cells[0].edges[0]
    c = net.head.in_features
    x = torch.randn(1, c, length)
    training = mixed.training
    mixed.eval()
    table = []
    for op in mixed.ops:
        laps = []
        for _ in range(repeats):
            t = time.perf_counter()
            op(x)
            laps.append(time.perf_counter() - t)
        table.append(1e3 * min(laps))
    mixed.train(training)
    return np.asarray(table)


def expected_latency(net, table):
    return sum((p @ torch.as_tensor(table, dtype=p.dtype, device=p.device)).sum() for p in net.probs())
