import math
from dataclasses import dataclass, field
from itertools import islice
from typing import Callable, List

import numpy as np
import torch

from .snapshot import TrainingSnapshot


@dataclass
class RangeTestResult:
    lrs: List[float] = field(default_factory=list)
    losses: List[float] = field(default_factory=list)
    diverged: bool = False

    def suggestion(self, skip_start=2, skip_end=1):
        lrs = np.array(self.lrs[skip_start: len(self.lrs) - skip_end])
        losses = np.array(self.losses[skip_start: len(self.losses) - skip_end])
        if len(losses) < 3:
            return self.lrs[len(self.lrs) // 2]
        slope = np.gradient(losses, np.log10(lrs))
        return float(lrs[int(slope.argmin())])


def endless(loader):
    while True:
        for batch in loader:
            yield batch


class RangeTest:
    """Raises the learning rate exponentially and records the smoothed loss.

    The test trains for real; training state is put back when the context
    is left::

        with RangeTest(model, opt, loss_fn) as test:
            result = test.run(loader, steps=50)
    """

    def __init__(self, model, optimizer, loss_fn: Callable, smooth=0.2, blow_up=4.0):
        self.model = model
        self.optimizer = optimizer
        self.loss_fn = loss_fn
        self.smooth = smooth
        self.blow_up = blow_up
        self._snapshot = None

    @property
    def device(self):
        return next(self.model.parameters()).device

    def __enter__(self):
        self._was_training = self.model.training
        self._snapshot = TrainingSnapshot(self.model, self.optimizer)
        return self

    def __exit__(self, *exc):
        self.optimizer.zero_grad(set_to_none=True)
        self._snapshot.restore()
        self.model.train(self._was_training)
        return False

    def run(self, loader, lo=1e-5, hi=1.0, steps=20):
        result = RangeTestResult()
        factor = (hi / lo) ** (1 / max(1, steps - 1))
        avg = None
        self.model.train()
        for i, (inputs, target) in enumerate(islice(endless(loader), steps)):
            lr = lo * factor ** i
            for group in self.optimizer.param_groups:
                group["lr"] = lr
            loss = self.loss_fn(self.model(inputs.to(self.device)), target.to(self.device))
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            value = loss.item()
            avg = value if avg is None else self.smooth * value + (1 - self.smooth) * avg
            result.lrs.append(lr)
            result.losses.append(avg)
            if not math.isfinite(value) or avg > self.blow_up * min(result.losses):
                result.diverged = True
                break
        return result
