import numpy as np
import torch

from forecast.trainer import Callback


class ConformalExport(Callback):
    """Split conformal intervals per horizon step. Export runs on the CPU, like the service that
    reads the file, and happens only when the calibration error got better by `min_delta`."""

    def __init__(self, path, alpha=0.1, min_delta=0.05):
        self.path, self.alpha, self.min_delta = path, alpha, min_delta
        self.best = np.inf
        self.exports = 0

    def _residuals(self, model, loader):
        model.eval()
        with torch.no_grad():
            return np.concatenate([(y - model(x)).abs().numpy() for x, y in loader])

    def on_epoch_end(self, trainer):
        model = trainer.model.cpu()
        res = self._residuals(model, trainer.data.calib_loader())
        mae = float(res.mean())
        trainer.logged["calib_mae"] = mae
        if mae < self.best * (1 - self.min_delta):
            self.best = mae
            self.exports += 1
            n = len(res)
            level = min(1.0, np.ceil((n + 1) * (1 - self.alpha)) / n)
            band = np.quantile(res, level, axis=0)
            torch.save({"state": model.state_dict(), "band": torch.from_numpy(band).float(), "mae": mae}, self.path)
        model.to(trainer.device)
