import torch

from forecast.trainer import Callback


class RunningAverage(Callback):
    """Average of the weights after each epoch, accumulated in double on the host."""

    def on_fit_start(self, trainer):
        self.count = 0
        self.sums = {k: torch.zeros(v.shape, dtype=torch.float64) for k, v in trainer.model.state_dict().items()}

    def on_epoch_end(self, trainer):
        self.count += 1
        for k, v in trainer.model.state_dict().items():
            self.sums[k] += v.detach().cpu()

    def on_fit_end(self, trainer):
        mean = {k: (s / self.count).float() for k, s in self.sums.items()}
        trainer.model.load_state_dict(mean)
