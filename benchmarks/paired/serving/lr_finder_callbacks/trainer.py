import torch
import torch.nn.functional as F


class Trainer:
    def __init__(self, model, loader, lr, weight_decay, callbacks=(), device=None):
        self.device = device or torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = model.to(self.device)
        self.loader = loader
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=lr, weight_decay=weight_decay)
        self.callbacks = list(callbacks)
        self.epoch = -1

    @property
    def lr(self):
        return self.optimizer.param_groups[0]["lr"]

    @lr.setter
    def lr(self, value):
        for group in self.optimizer.param_groups:
            group["lr"] = value

    def fire(self, event, *args):
        for cb in self.callbacks:
            getattr(cb, event)(self, *args)

    def train_step(self, batch):
        x, y = (t.to(self.device) for t in batch)
        loss = F.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss

    def fit(self, epochs):
        self.fire("on_fit_begin")
        for self.epoch in range(epochs):
            self.model.train()
            self.fire("on_epoch_begin")
            for batch in self.loader:
                self.fire("on_batch_end", self.train_step(batch))
            self.fire("on_epoch_end")
        self.fire("on_fit_end")
