import math

import torch

from .utils import to_device


class Trainer:
    def __init__(self, model, loss_fn, optimizer_cls=torch.optim.AdamW, lr=1e-3, accumulate=1, clip=1.0,
                 callbacks=(), device=None, **optimizer_args):
        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self.model = model.to(self.device)
        self.loss_fn = loss_fn
        self.optimizer = optimizer_cls(self.model.parameters(), lr=lr, **optimizer_args)
        self.accumulate, self.clip = accumulate, clip
        self.callbacks = list(callbacks)
        self.epoch = self.updates = self.samples_in_update = 0
        self.log = []

    def _call(self, event, *args):
        for cb in self.callbacks:
            getattr(cb, event)(self, *args)

    def _chunks(self, loader):
        """Lists of micro-batches that make up one update."""
        chunk = []
        for batch in loader:
            chunk.append(batch)
            if len(chunk) == self.accumulate:
                yield chunk
                chunk = []
        if chunk:
            yield chunk

    def _update(self, chunk):
        total = sum(len(y) for _, y in chunk)
        loss_sum = torch.zeros((), device=self.device)
        self.optimizer.zero_grad(set_to_none=True)
        for batch in chunk:
            x, y = to_device(batch, self.device)
            loss = self.loss_fn(self.model(x), y) * (len(y) / total)
            loss.backward()
            loss_sum += loss.detach()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.step()
        self.updates += 1
        self.samples_in_update = total
        self._call("on_update")
        return loss_sum

    @torch.no_grad()
    def validate(self, loader):
        self.model.eval()
        loss, n = 0.0, 0
        for batch in loader:
            x, y = to_device(batch, self.device)
            loss += self.loss_fn(self.model(x), y).item() * len(y)
            n += len(y)
        self.model.train()
        return loss / n

    def fit(self, train_loader, val_loader, epochs):
        self.model.train()
        self._call("on_train_start")
        for self.epoch in range(epochs):
            losses = [self._update(chunk) for chunk in self._chunks(train_loader)]
            val = self.validate(val_loader)
            metrics = {"train_loss": torch.stack(losses).mean().item(), "val_loss": val, "ppl": math.exp(val)}
            self._call("on_epoch_end", metrics)
            self.log.append(metrics)
        self._call("on_train_end")
        return self.log
