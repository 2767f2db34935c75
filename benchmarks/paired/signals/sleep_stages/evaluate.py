import torch

from feed import HOST_FIELDS, DeviceFeed
from nights import IGNORE, STAGES


def kappa(counts):
    n = counts.sum()
    agree = counts.diag().sum() / n
    chance = (counts.sum(0) * counts.sum(1)).sum() / n**2
    return ((agree - chance) / (1 - chance)).item()


@torch.no_grad()
def evaluate(model, loader):
    """Cohen's kappa over all epochs, and sleep efficiency of each subject."""
    model.eval()
    device = next(model.parameters()).device
    counts = torch.zeros(len(STAGES), len(STAGES), device=device)
    efficiency = {}
    for batch in DeviceFeed(loader, device, HOST_FIELDS):
        guess = model(batch["bands"], batch["lengths"]).argmax(-1)
        known = batch["stages"] != IGNORE
        pair = (batch["stages"][known], guess[known])
        counts.index_put_(pair, counts.new_ones(()), accumulate=True)
        asleep = ((guess > 0) & known).sum(1).cpu() / batch["lengths"]
        efficiency.update(zip(batch["subject"], asleep.tolist()))
    return kappa(counts), efficiency
