from tagger.registry import HOOKS


class Hook:
    def before_epoch(self, trainer): ...
    def after_step(self, trainer): ...
    def after_epoch(self, trainer): ...


@HOOKS.register
class LRDecayHook(Hook):
    def __init__(self, gamma):
        self.gamma = gamma

    def after_epoch(self, trainer):
        for g in trainer.optimizer.param_groups:
            g["lr"] *= self.gamma


@HOOKS.register
class LogHook(Hook):
    def __init__(self, every=10):
        self.every = every

    def after_step(self, trainer):
        if trainer.step % self.every == 0:
            print(f"  step {trainer.step:4d} loss {trainer.loss:.4f}")

    def after_epoch(self, trainer):
        print(f"epoch {trainer.epoch} val_loss {trainer.val_loss:.4f} micro-F1 {trainer.f1:.3f}")
