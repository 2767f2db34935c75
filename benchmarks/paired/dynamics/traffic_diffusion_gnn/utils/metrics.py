import torch


def masked_mae(pred, target, null=0.0):
    mask = (target != null).float()
    mask = mask / mask.mean().clamp(min=1e-6)
    return ((pred - target).abs() * mask).mean()


class HorizonMetrics:
    """MAE and RMSE per forecast step, summed on the host in double precision."""

    def __init__(self, horizon):
        self.abs = torch.zeros(horizon, dtype=torch.double)
        self.sq = torch.zeros(horizon, dtype=torch.double)
        self.n = torch.zeros(horizon, dtype=torch.double)

    def update(self, pred, target):
        pred, target = pred.detach().cpu().double(), target.cpu().double()
        mask = target != 0
        err = (pred - target) * mask
        self.abs += err.abs().sum(dim=(0, 2))
        self.sq += err.pow(2).sum(dim=(0, 2))
        self.n += mask.sum(dim=(0, 2))

    def compute(self):
        n = self.n.clamp(min=1)
        return (self.abs / n).tolist(), (self.sq / n).sqrt().tolist()
