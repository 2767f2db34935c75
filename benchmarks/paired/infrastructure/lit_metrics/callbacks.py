import lightning as L


class PrintMetrics(L.Callback):
    def on_validation_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        if trainer.sanity_checking:
            return
        shown = {k: f"{float(v):.3f}" for k, v in trainer.callback_metrics.items() if "/" in k}
        print(f"epoch {trainer.current_epoch}:", shown)


class FreezeUntil(L.Callback):
    """Keeps a submodule frozen for the first epochs."""

    def __init__(self, name: str, epoch: int) -> None:
        self.name, self.epoch = name, epoch

    def on_train_epoch_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        getattr(pl_module, self.name).requires_grad_(trainer.current_epoch >= self.epoch)
