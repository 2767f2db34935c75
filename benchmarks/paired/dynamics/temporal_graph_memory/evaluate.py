from contextlib import contextmanager

import torch


@contextmanager
def preserve_memory(model):
    snap = model.memory.snapshot()
    try:
        yield snap
    finally:
        model.memory.rollback(snap)


@torch.no_grad()
def mean_reciprocal_rank(model, log, item_ids, batch_size, device):
    """Rank the true item among all items, then feed the event to the memory."""
    model.eval()
    ranks = []
    candidates = item_ids.to(device)
    for batch in log.batches(batch_size):
        batch = batch.to(device)
        n, m = batch.src.numel(), candidates.numel()
        src = batch.src.repeat_interleave(m)
        t = batch.t.repeat_interleave(m)
        scores = model(src, candidates.repeat(n), t).view(n, m)
        true = scores.gather(1, (batch.dst - candidates[0]).unsqueeze(1))
        ranks.append((scores > true).sum(1).add(1).cpu())
        model.memory.update(*batch)
    model.train()
    return (1.0 / torch.cat(ranks).float()).mean().item()
