import random

import torch


class PCGrad:
    """Wraps an optimizer: projects conflicting task gradients (Yu et al., 2020)."""

    def __init__(self, optimizer, reduction="sum"):
        self._optim = optimizer
        self._reduction = reduction
        self.conflicts = 0

    @property
    def optimizer(self):
        return self._optim

    def zero_grad(self):
        return self._optim.zero_grad(set_to_none=True)

    def step(self):
        return self._optim.step()

    def pc_backward(self, objectives):
        grads, has = zip(*[self._task_grad(obj) for obj in objectives])
        merged = self._project(grads, has)
        self._set_grad(merged)

    def _params(self):
        for group in self._optim.param_groups:
            yield from group["params"]

    def _task_grad(self, objective):
        self.zero_grad()
        objective.backward(retain_graph=True)
        flat, mask = [], []
        for p in self._params():
            if p.grad is None:
                # a head of another task
                flat.append(torch.zeros_like(p).flatten())
                mask.append(torch.zeros(p.numel(), device=p.device, dtype=torch.bool))
            else:
                flat.append(p.grad.detach().clone().flatten())
                mask.append(torch.ones(p.numel(), device=p.device, dtype=torch.bool))
        return torch.cat(flat), torch.cat(mask)

    def _project(self, grads, has):
        shared = torch.stack(has).all(dim=0)
        projected = [g.clone() for g in grads]
        for gi in projected:
            others = list(grads)
            random.shuffle(others)
            for gj in others:
                dot = torch.dot(gi, gj)
                if dot < 0:
                    self.conflicts += 1
                    gi -= dot * gj / (gj.norm() ** 2)
        stacked = torch.stack(projected)
        merged = torch.where(shared, stacked.mean(0) if self._reduction == "mean" else stacked.sum(0),
                             stacked.sum(0))
        return merged

    def _set_grad(self, flat):
        i = 0
        for p in self._params():
            n = p.numel()
            p.grad = flat[i:i + n].view_as(p).clone()
            i += n
