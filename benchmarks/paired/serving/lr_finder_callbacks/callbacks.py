import logging
import math

import numpy as np

from snapshot import Snapshot

log = logging.getLogger(__name__)


class Callback:
    def on_fit_begin(self, trainer): ...
    def on_epoch_begin(self, trainer): ...
    def on_batch_end(self, trainer, loss): ...
    def on_epoch_end(self, trainer): ...
    def on_fit_end(self, trainer): ...


class History(Callback):
    def __init__(self):
        self.losses, self.epochs = [], []

    def on_epoch_begin(self, trainer):
        self.losses = []

    def on_batch_end(self, trainer, loss):
        self.losses.append(loss.detach())

    def on_epoch_end(self, trainer):
        mean = float(np.mean([l.item() for l in self.losses]))
        self.epochs.append({"epoch": trainer.epoch, "loss": mean, "lr": trainer.lr})
        log.info("epoch %d loss %.4f lr %.2e", trainer.epoch, mean, trainer.lr)


class LRFinder(Callback):
    """Runs a range test at the end of one epoch and takes the steepest point as the new rate."""

    def __init__(self, after_epoch, start_lr, end_lr, num_iter):
        self.after_epoch = after_epoch
        self.start_lr, self.end_lr, self.num_iter = start_lr, end_lr, num_iter

    def _endless(self, loader):
        while True:
            yield from loader

    def on_epoch_end(self, trainer):
        if trainer.epoch != self.after_epoch:
            return
        snap = Snapshot(trainer.model, trainer.optimizer)
        lrs = np.geomspace(self.start_lr, self.end_lr, self.num_iter)
        losses = []
        for lr, batch in zip(lrs, self._endless(trainer.loader)):
            trainer.lr = float(lr)
            value = trainer.train_step(batch).item()
            losses.append(value)
            if not math.isfinite(value) or value > 4 * losses[0]:
                break
        snap.restore(trainer.model, trainer.optimizer)
        trainer.lr = self.suggest(lrs[: len(losses)], losses)
        log.info("range test: %d points, suggestion %.2e", len(losses), trainer.lr)

    @staticmethod
    def suggest(lrs, losses):
        smooth = np.convolve(np.pad(losses, 1, mode="edge"), [0.25, 0.5, 0.25], mode="valid")
        slope = np.gradient(smooth, np.log(lrs))
        return float(lrs[int(slope.argmin())])
