import numpy as np
import torch


class Callback:
    def on_epoch_end(self, trainer, epoch, logs):
        pass


class EPEOnHost(Callback):
    """Endpoint error of the weights as the deployment (host only) will see them."""

    def __init__(self, loader, every=1):
        self.loader = loader
        self.every = every

    @torch.no_grad()
    def on_epoch_end(self, trainer, epoch, logs):
        if (epoch + 1) % self.every:
            return
        net = trainer.model.eval().cpu()
        errors = []
        for im1, im2, gt in self.loader:
            pred = net(im1, im2)[-1].numpy()
            errors.append(np.sqrt(((pred - gt.numpy()) ** 2).sum(1)).mean(axis=(1, 2)))
        errors = np.concatenate(errors)
        logs["epe"] = float(errors.mean())
        logs["epe_p90"] = float(np.percentile(errors, 90))
        trainer.model.to(trainer.device).train()


class LRLogger(Callback):
    def on_epoch_end(self, trainer, epoch, logs):
        logs["lr"] = trainer.scheduler.get_last_lr()[0]
