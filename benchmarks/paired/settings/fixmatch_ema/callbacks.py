import os

import torch


class Callback:
    def on_train_start(self, trainer): ...
    def on_step_end(self, trainer, step, logs): ...
    def on_train_end(self, trainer): ...


class Printer(Callback):
    def __init__(self, every):
        self.every = every

    def on_step_end(self, trainer, step, logs):
        if step % self.every == 0:
            print(" ".join([f"step {step:3d}"] + [f"{k}={float(v):.3f}" for k, v in logs.items()]))


class Evaluate(Callback):
    def __init__(self, loader, every):
        self.loader, self.every = loader, every
        self.best = 0.0

    @torch.no_grad()
    def _accuracy(self, trainer):
        net = trainer.model
        net.eval()
        conf = torch.zeros(trainer.num_classes, trainer.num_classes, dtype=torch.long)
        for x, y in self.loader:
            pred = net(x.to(trainer.device)).argmax(1).cpu()
            conf.index_put_((y, pred), torch.ones_like(y), accumulate=True)
        net.train()
        return (conf.diag().sum() / conf.sum()).item()

    def on_step_end(self, trainer, step, logs):
        if step % self.every:
            return
        raw = self._accuracy(trainer)
        with trainer.ema.swapped_into(trainer.model):
            avg = self._accuracy(trainer)
        self.best = max(self.best, raw, avg)
        print(f"  eval raw {raw:.3f} ema {avg:.3f}")


class Saver(Callback):
    def __init__(self, folder):
        self.path = os.path.join(folder, "ema.pt")

    def on_train_end(self, trainer):
        torch.save({k: v.cpu() for k, v in trainer.ema.module.state_dict().items()}, self.path)
