import torch


class Callback:
    def on_epoch_start(self, engine): ...

    def on_train_batch(self, engine, loss): ...

    def on_eval_batch(self, engine, out): ...

    def on_epoch_end(self, engine): ...


class LossAverage(Callback):
    def on_epoch_start(self, engine):
        self.total, self.n = 0.0, 0

    def on_train_batch(self, engine, loss):
        self.total += loss.item()
        self.n += 1

    def on_epoch_end(self, engine):
        engine.log["loss"] = self.total / max(self.n, 1)


class ConfusionTable(Callback):
    """Counts (truth, guess) pairs over an epoch."""

    def on_epoch_start(self, engine):
        k = engine.task.n_classes
        self.counts = torch.zeros(k, k, dtype=torch.long)

    def on_eval_batch(self, engine, out):
        k = len(self.counts)
        cell = out["label"] * k + out["scores"].argmax(-1)
        self.counts += torch.bincount(cell, minlength=k * k).view(k, k)

    def on_epoch_end(self, engine):
        recall = self.counts.diag() / self.counts.sum(1).clamp(min=1)
        engine.log["accuracy"] = (self.counts.diag().sum() / self.counts.sum()).item()
        engine.log["worst recall"] = recall.min().item()


class BestWeights(Callback):
    """Remembers the best weights, off the accelerator."""

    def __init__(self, key="accuracy"):
        self.key, self.best, self.state = key, -1.0, None

    def on_epoch_end(self, engine):
        if engine.log[self.key] > self.best:
            self.best = engine.log[self.key]
            self.state = {k: v.detach().cpu().clone() for k, v in engine.task.state_dict().items()}

    def restore(self, task):
        task.load_state_dict(self.state)
