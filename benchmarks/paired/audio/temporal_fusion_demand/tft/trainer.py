import torch

from .scaling import TargetScaler


def move(batch, device):
    return {k: v.to(device) for k, v in batch.items()}


class Trainer:
    def __init__(self, model, scaler, quantiles, lr, epochs, callbacks=(), device=None):
        self.device = device or torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = model.to(self.device)
        self.scaler = scaler.to(self.device)
        self.q = torch.tensor(quantiles, device=self.device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.epochs, self.callbacks, self.epoch = epochs, list(callbacks), 0

    def quantile_loss(self, pred, target):
        err = target.unsqueeze(-1) - pred
        return torch.maximum(self.q * err, (self.q - 1) * err).mean()

    def _forward(self, batch):
        past = self.scaler.transform(batch["past_y"], batch["series"])
        return self.model(batch["series"], past, batch["past_x"], batch["future_x"])

    def _step(self, batch):
        pred = self._forward(batch)
        return self.quantile_loss(pred, self.scaler.transform(batch["target"], batch["series"]))

    def fit(self, train_loader, val_loader):
        for self.epoch in range(self.epochs):
            self.model.train()
            for batch in train_loader:
                loss = self._step(move(batch, self.device))
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            metrics = {"loss": loss.item(), "val_loss": self.validate(val_loader)}
            for cb in self.callbacks:
                cb.on_epoch_end(self, metrics)
        for cb in self.callbacks:
            cb.on_fit_end(self)

    @torch.no_grad()
    def validate(self, loader):
        self.model.eval()
        losses = [self._step(move(batch, self.device)) for batch in loader]
        return torch.stack(losses).mean().item()

    @torch.no_grad()
    def predict(self, loader):
        """Quantiles in the unit of the data, with the targets, as arrays."""
        self.model.eval()
        preds, targets = [], []
        for batch in loader:
            targets.append(batch["target"])
            batch = move(batch, self.device)
            preds.append(self.scaler.inverse(self._forward(batch), batch["series"]).cpu())
        return torch.cat(preds).numpy(), torch.cat(targets).numpy()

    def checkpoint(self):
        return {"epoch": self.epoch, "model": self.model.state_dict(),
                "optimizer": self.optimizer.state_dict(), "scaler": self.scaler.state()}

    def restore(self, path):
        ckpt = torch.load(path, map_location="cpu")
        self.epoch = ckpt["epoch"]
        self.model.load_state_dict(ckpt["model"])
        self.optimizer.load_state_dict(ckpt["optimizer"])
        self.scaler = TargetScaler(**ckpt["scaler"]).to(self.device)
