import os

import torch
import torch.nn.functional as F


class EWC(object):
    """One penalty per finished task. Fisher and weights of a task go to disk as soon as it is
    finished, so a killed job can go on from the last task."""

    def __init__(self, model, workdir, importance=20.0, device='cpu'):
        self.model = model
        self.workdir = workdir
        self.importance = importance
        self.device = device
        self.anchors = []

    def _params(self):
        return {n: p for n, p in self.model.named_parameters() if p.requires_grad}

    def _path(self, task):
        return os.path.join(self.workdir, 'task%02d.pt' % task)

    def diag_fisher(self, loader, max_batches=6):
        fisher = {n: torch.zeros_like(p) for n, p in self._params().items()}
        self.model.eval()
        seen = 0
        for i, (x, _) in enumerate(loader):
            if i == max_batches:
                break
            self.model.zero_grad()
            logp = F.log_softmax(self.model(x.to(self.device)), dim=1)
            labels = logp.argmax(1)
            F.nll_loss(logp, labels).backward()
            for n, p in self._params().items():
                fisher[n] += p.grad.detach() ** 2 * len(x)
            seen += len(x)
        return {n: f / seen for n, f in fisher.items()}

    def end_task(self, task, loader):
        state = {
            'fisher': self.diag_fisher(loader),
            'means': {n: p.detach().clone() for n, p in self._params().items()},
        }
        torch.save(state, self._path(task))
        self.reload()

    def reload(self):
        self.anchors = []
        task = 0
        while os.path.exists(self._path(task)):
            self.anchors.append(torch.load(self._path(task), map_location=self.device))
            task += 1

    def penalty(self):
        loss = 0
        for state in self.anchors:
            for n, p in self._params().items():
                loss = loss + (state['fisher'][n] * (p - state['means'][n]) ** 2).sum()
        return self.importance * loss
