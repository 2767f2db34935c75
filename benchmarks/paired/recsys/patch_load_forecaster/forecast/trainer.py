import torch


class Callback:
    def on_fit_start(self, trainer): pass

    def on_epoch_end(self, trainer): pass

    def on_fit_end(self, trainer): pass


class Trainer:
    def __init__(self, max_epochs, callbacks=(), lr=2e-3, accelerator="auto"):
        self.max_epochs, self.callbacks, self.lr = max_epochs, list(callbacks), lr
        if accelerator == "auto":
            accelerator = "cuda" if torch.cuda.is_available() else "cpu"
        self.device = torch.device(accelerator)
        self.logged = {}
        self.epoch = 0

    def _fire(self, hook):
        for cb in self.callbacks:
            getattr(cb, hook)(self)

    def fit(self, model, data):
        self.model, self.data = model.to(self.device), data
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=self.lr)
        self._fire("on_fit_start")
        for self.epoch in range(self.max_epochs):
            model.train()
            total = torch.zeros((), device=self.device)
            loader = data.train_loader()
            for x, y in loader:
                x, y = x.to(self.device, non_blocking=True), y.to(self.device, non_blocking=True)
                loss = (model(x) - y).abs().mean()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                total += loss.detach()
            self.logged["train_mae"] = total.item() / len(loader)
            self._fire("on_epoch_end")
        self._fire("on_fit_end")
        return model
