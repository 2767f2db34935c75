import torch

from .callbacks import CallbackList


class Loop:
    def __init__(self, model, optimizer, loss_fn, device, callbacks=()):
        self.model = model
        self.optimizer = optimizer
        self.loss_fn = loss_fn
        self.device = device
        self.should_stop = False
        self.callbacks = CallbackList(callbacks)
        self.callbacks.set_loop(self)

    def _run(self, loader, train):
        self.model.train(train)
        total, count = 0.0, 0
        with torch.set_grad_enabled(train):
            for batch in loader:
                x, seen = [t.to(self.device) for t in batch]
                recon = self.model(x * seen, seen)
                loss = self.loss_fn(recon, x, seen)
                if train:
                    self.optimizer.zero_grad()
                    loss.backward()
                    self.optimizer.step()
                total += float(loss) * len(x)
                count += len(x)
        return total / count

    def evaluate(self, loader):
        return self._run(loader, train=False)

    def fit(self, train_loader, val_loader, max_epochs):
        self.callbacks.on_fit_begin()
        for epoch in range(max_epochs):
            logs = {"loss": self._run(train_loader, True), "val_loss": self.evaluate(val_loader)}
            self.callbacks.on_epoch_end(epoch, logs)
            if self.should_stop:
                break
        self.callbacks.on_fit_end()
