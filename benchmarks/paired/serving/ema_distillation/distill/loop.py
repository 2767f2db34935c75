import numpy as np
import torch
import torch.nn.functional as F


def run_epoch(model, loader, loss_fn, optimizer, device, accumulate=1, after_step=None):
    model.train()
    total = 0.0
    optimizer.zero_grad()
    for step, (ids, y) in enumerate(loader, 1):
        ids, y = ids.to(device), y.to(device)
        loss = loss_fn(model, ids, y)
        (loss / accumulate).backward()
        total += loss.item()
        if step % accumulate == 0 or step == len(loader):
            optimizer.step()
            optimizer.zero_grad()
            if after_step is not None:
                after_step(model)
    return total / len(loader)


def supervised(model, ids, y):
    return F.cross_entropy(model(ids), y)


class KDLoss:
    def __init__(self, teacher, T=2.0, alpha=0.7):
        self.teacher = teacher.eval().requires_grad_(False)
        self.T, self.alpha = T, alpha

    def __call__(self, student, ids, y):
        with torch.no_grad():
            soft = F.log_softmax(self.teacher(ids) / self.T, dim=-1)
        logits = student(ids)
        kd = F.kl_div(F.log_softmax(logits / self.T, dim=-1), soft, log_target=True, reduction="batchmean")
        return self.alpha * self.T ** 2 * kd + (1 - self.alpha) * F.cross_entropy(logits, y)


@torch.no_grad()
def macro_f1(model, loader, device):
    model.eval()
    truth, guess = [], []
    for ids, y in loader:
        guess += model(ids.to(device)).argmax(-1).tolist()
        truth += y.tolist()
    truth, guess = np.asarray(truth), np.asarray(guess)
    scores = []
    for c in np.unique(truth):
        tp = np.sum((truth == c) & (guess == c))
        scores.append(2 * tp / (np.sum(truth == c) + np.sum(guess == c)))
    return float(np.mean(scores))
