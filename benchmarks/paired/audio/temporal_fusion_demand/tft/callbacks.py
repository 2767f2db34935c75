import os

import torch


class Callback:
    def on_epoch_end(self, trainer, metrics):
        pass

    def on_fit_end(self, trainer):
        pass


class History(Callback):
    def __init__(self):
        self.rows = []

    def on_epoch_end(self, trainer, metrics):
        self.rows.append({"epoch": trainer.epoch, **metrics})


class BestCheckpoint(Callback):
    """Keeps the best epoch on disk and puts it back at the end of the fit."""

    def __init__(self, folder, monitor="val_loss"):
        self.path = os.path.join(folder, "best.ckpt")
        self.monitor, self.best = monitor, float("inf")

    def on_epoch_end(self, trainer, metrics):
        if metrics[self.monitor] < self.best:
            self.best = metrics[self.monitor]
            torch.save(trainer.checkpoint(), self.path)

    def on_fit_end(self, trainer):
        trainer.restore(self.path)
