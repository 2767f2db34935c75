import abc
import copy
import logging

import numpy as np

from quant import Int8Model, size_in_bytes

log = logging.getLogger("qat")


class Callback(abc.ABC):
    def on_train_begin(self, trainer):
        pass

    def on_epoch_end(self, trainer, logs):
        pass

    def on_train_end(self, trainer):
        pass


class PrintLogs(Callback):
    def on_epoch_end(self, trainer, logs):
        log.info("epoch %d %s", trainer.epoch, " ".join("%s=%.4f" % kv for kv in sorted(logs.items())))


class Int8Export(Callback):
    """Converts the current weights and checks the integer model against labels."""

    def __init__(self, every, inputs, labels):
        self.every = every
        self.inputs = inputs.numpy()
        self.labels = labels.numpy()
        self.best = (-1.0, None)

    def on_epoch_end(self, trainer, logs):
        if (trainer.epoch + 1) % self.every:
            return
        snapshot = copy.deepcopy(trainer.model).cpu().eval()
        int8 = Int8Model(snapshot)
        acc = float(np.mean(int8(self.inputs).argmax(-1) == self.labels))
        logs["int8_acc"] = acc
        if acc > self.best[0]:
            self.best = (acc, int8)

    def on_train_end(self, trainer):
        acc, int8 = self.best
        if int8 is not None:
            log.info("best int8 accuracy %.3f, %d bytes", acc, size_in_bytes(int8))


class ObserverFreeze(Callback):
    def __init__(self, after):
        self.after = after

    def on_epoch_end(self, trainer, logs):
        if trainer.epoch + 1 >= self.after:
            for m in trainer.model.modules():
                if hasattr(m, "momentum"):
                    m.momentum = 0.0
