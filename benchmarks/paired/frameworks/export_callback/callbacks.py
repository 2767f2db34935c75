from exporter import export, reopen


class Callback:
    def on_epoch_end(self, loop, epoch, logs):
        pass

    def on_train_end(self, loop):
        pass


class ExportBest(Callback):
    """Exports whenever the watched value has become better."""

    def __init__(self, example, watch="val_acc", min_gain=0.0):
        self.example = example
        self.watch = watch
        self.min_gain = min_gain
        self.best = None
        self.artefact = None

    def on_epoch_end(self, loop, epoch, logs):
        value = logs[self.watch]
        if self.best is not None and value <= self.best + self.min_gain:
            return
        self.best = value
        self.artefact = export(loop.model, self.example)
        logs["export_kb"] = self.artefact.kilobytes

    def on_train_end(self, loop):
        served = reopen(self.artefact, loop.device)
        logs = loop.evaluate(served)
        print(f"artefact: {self.artefact.kilobytes:.1f} kB, error {self.artefact.max_error:.1e}, "
              f"acc {logs['val_acc']:.3f}")


class Progress(Callback):
    def on_epoch_end(self, loop, epoch, logs):
        print(f"epoch {epoch}", " ".join(f"{k}={v:.3f}" for k, v in logs.items()))


class Plateau(Callback):
    def __init__(self, watch="loss", factor=0.5, patience=1):
        self.watch, self.factor, self.patience = watch, factor, patience
        self.best, self.bad_epochs = float("inf"), 0

    def on_epoch_end(self, loop, epoch, logs):
        if logs[self.watch] < self.best:
            self.best, self.bad_epochs = logs[self.watch], 0
            return
        self.bad_epochs += 1
        if self.bad_epochs > self.patience:
            for group in loop.optimizer.param_groups:
                group["lr"] *= self.factor
            self.bad_epochs = 0
