from forecast.trainer import Callback


class Progress(Callback):
    def on_epoch_end(self, trainer):
        line = "  ".join(f"{k} {v:.4f}" for k, v in trainer.logged.items())
        print(f"epoch {trainer.epoch + 1}/{trainer.max_epochs}  {line}")
