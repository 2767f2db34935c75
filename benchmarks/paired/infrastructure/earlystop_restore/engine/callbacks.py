import torch


class Callback:
    def set_loop(self, loop):
        self.loop = loop

    def on_fit_begin(self):
        pass

    def on_epoch_end(self, epoch, logs):
        pass

    def on_fit_end(self):
        pass


class CallbackList(Callback):
    def __init__(self, callbacks):
        self.callbacks = list(callbacks)

    def set_loop(self, loop):
        for c in self.callbacks:
            c.set_loop(loop)

    def on_fit_begin(self):
        for c in self.callbacks:
            c.on_fit_begin()

    def on_epoch_end(self, epoch, logs):
        for c in self.callbacks:
            c.on_epoch_end(epoch, logs)

    def on_fit_end(self):
        for c in self.callbacks:
            c.on_fit_end()


class History(Callback):
    def on_fit_begin(self):
        self.rows = []

    def on_epoch_end(self, epoch, logs):
        self.rows.append({"epoch": epoch, **logs})
        print("epoch %d  " % epoch + "  ".join("%s %.4f" % kv for kv in sorted(logs.items())))


class EarlyStopping(Callback):
    def __init__(self, monitor="val_loss", patience=3, min_delta=0.0, restore_best=True):
        self.monitor = monitor
        self.patience = patience
        self.min_delta = min_delta
        self.restore_best = restore_best

    def on_fit_begin(self):
        self.best = float("inf")
        self.best_epoch = -1
        self.bad_epochs = 0
        self.snapshot = None

    def on_epoch_end(self, epoch, logs):
        value = logs[self.monitor]
        if value < self.best - self.min_delta:
            self.best, self.best_epoch, self.bad_epochs = value, epoch, 0
            if self.restore_best:
                # on the host, one copy of a large model is enough on the card
                self.snapshot = [p.detach().cpu().clone() for p in self.loop.model.parameters()]
        else:
            self.bad_epochs += 1
            if self.bad_epochs >= self.patience:
                print("early stopping after epoch %d" % epoch)
                self.loop.should_stop = True

    def on_fit_end(self):
        if self.snapshot is None:
            return
        with torch.no_grad():
            for p, best in zip(self.loop.model.parameters(), self.snapshot):
                p.data.copy_(best)
        print("restored weights of epoch %d (%s %.4f)" % (self.best_epoch, self.monitor, self.best))
