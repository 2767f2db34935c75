import copy

import torch


class Callback:
    """Hooks that the trainer calls; all of them are optional."""

    def on_fit_start(self, trainer): ...

    def on_step_end(self, trainer, loss): ...

    def on_epoch_end(self, trainer, epoch): ...

    def on_fit_end(self, trainer): ...


class LossMeter(Callback):
    def __init__(self):
        self.pending = []

    def on_step_end(self, trainer, loss):
        self.pending.append(loss.detach())

    def on_epoch_end(self, trainer, epoch):
        mean = torch.stack(self.pending).mean().item()
        self.pending.clear()
        print(f"epoch {epoch}: loss {mean:.4f}")


class WeightAverage(Callback):
    """Exponential moving average of the parameters, used for sampling."""

    def __init__(self, model, decay=0.9):
        self.decay = decay
        self.model = model
        self.shadow = None

    def on_fit_start(self, trainer):
        self.shadow = self._snapshot()

    def _snapshot(self):
        return copy.deepcopy(self.model).eval().requires_grad_(False)

    @torch.no_grad()
    def on_step_end(self, trainer, loss):
        for avg, new in zip(self.shadow.parameters(), self.model.parameters()):
            avg.lerp_(new, 1.0 - self.decay)

    def on_fit_end(self, trainer):
        trainer.sampling_model = self.shadow


class BestState(Callback):
    """Keeps a host copy of the state with the lowest running loss."""

    def __init__(self):
        self.best = float("inf")
        self.running = None
        self.state = None

    def on_step_end(self, trainer, loss):
        value = loss.item()
        self.running = value if self.running is None else 0.8 * self.running + 0.2 * value

    def on_epoch_end(self, trainer, epoch):
        if self.running < self.best:
            self.best = self.running
            self.state = {k: v.detach().cpu().clone() for k, v in trainer.model.state_dict().items()}
