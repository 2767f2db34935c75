import csv
import os

import numpy as np
import torch

from .registry import CALLBACKS


class Callback:
    def on_epoch_end(self, trainer, epoch, logs):
        pass

    def on_fit_end(self, trainer):
        pass


@CALLBACKS.register("csv")
class CSVLogger(Callback):
    def __init__(self, out_dir):
        self.path = os.path.join(out_dir, "log.csv")

    def on_epoch_end(self, trainer, epoch, logs):
        new = not os.path.exists(self.path)
        with open(self.path, "a", newline="") as f:
            writer = csv.DictWriter(f, ["epoch", *logs])
            if new:
                writer.writeheader()
            writer.writerow({"epoch": epoch, **logs})


@CALLBACKS.register("spectrum")
class SpectrumReport(Callback):
    """Radial energy spectrum of the predictions against the truth, every few epochs.

    Collects the test predictions on the host, as the full test set does not fit in GPU
    memory at high resolution.
    """

    def __init__(self, out_dir, every=1):
        self.out_dir = out_dir
        self.every = every
        self.errors = []

    @staticmethod
    def radial(field):
        power = np.abs(np.fft.fft2(field)) ** 2
        n = field.shape[-1]
        k = np.fft.fftfreq(n) * n
        radius = np.sqrt(k[:, None] ** 2 + k[None, :] ** 2).round().astype(int)
        flat = power.reshape(-1, n * n).mean(0)
        return np.bincount(radius.ravel(), weights=flat)[: n // 2]

    @torch.no_grad()
    def on_epoch_end(self, trainer, epoch, logs):
        if epoch % self.every:
            return
        trainer.net.eval()
        raw, truth = [], []
        for x, y in trainer.test_loader:
            x = trainer.x_norm.encode(x.to(trainer.device))
            raw.append(trainer.net(x).cpu())
            truth.append(y)

        home = trainer.y_norm.device
        norm = trainer.y_norm.to("cpu")
        pred = norm.decode(torch.cat(raw)).squeeze(1).numpy()
        norm.to(home)
        ref = torch.cat(truth).squeeze(1).numpy()

        got, want = self.radial(pred), self.radial(ref)
        self.errors.append(float(np.abs(np.log((got + 1e-9) / (want + 1e-9))).mean()))
        np.savez(os.path.join(self.out_dir, f"spectrum_{epoch:03d}.npz"), pred=got, truth=want)

    def on_fit_end(self, trainer):
        print("log-spectral error:", " ".join(f"{e:.2f}" for e in self.errors))
