import torch
import torch.nn.functional as F


class QATTrainer:
    def __init__(self, model, device, lr, callbacks=()):
        self.device = torch.device(device)
        self.model = model.to(self.device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr, momentum=0.9, nesterov=True)
        self.callbacks = list(callbacks)
        self.epoch = 0

    def _emit(self, event, *args):
        for cb in self.callbacks:
            getattr(cb, event)(self, *args)

    def _step(self, x, y):
        x, y = x.to(self.device), y.to(self.device)
        out = self.model(x)
        loss = F.cross_entropy(out, y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach(), (out.argmax(1) == y).sum()

    def fit(self, loader, epochs):
        self._emit("on_train_begin")
        for self.epoch in range(epochs):
            self.model.train()
            losses, hits, n = [], 0, 0
            for x, y in loader:
                loss, correct = self._step(x, y)
                losses.append(loss)
                hits += correct.item()
                n += len(y)
            logs = {"loss": torch.stack(losses).mean().item(), "acc": hits / n}
            self._emit("on_epoch_end", logs)
        self._emit("on_train_end")
