import os
import time

import torch

from .utils import on_device


class Callback:
    def on_train_start(self, trainer):
        pass

    def on_update(self, trainer):
        pass

    def on_epoch_end(self, trainer, metrics):
        pass

    def on_train_end(self, trainer):
        pass


class Throughput(Callback):
    def on_train_start(self, trainer):
        self.started, self.samples = time.time(), 0

    def on_update(self, trainer):
        self.samples += trainer.samples_in_update

    def on_epoch_end(self, trainer, metrics):
        metrics["samples/s"] = self.samples / (time.time() - self.started)


class SampleText(Callback):
    """Writes a few characters after every n-th epoch, always with the same random numbers."""

    def __init__(self, tokenizer, prompt, length=20, every=1, seed=0):
        self.tokenizer, self.prompt = tokenizer, prompt
        self.length, self.every, self.seed = length, every, seed
        self.texts = []

    def on_epoch_end(self, trainer, metrics):
        if trainer.epoch % self.every:
            return
        rng = torch.Generator().manual_seed(self.seed)
        ids = torch.tensor([self.tokenizer.encode(self.prompt)])
        with on_device(trainer.model, "cpu") as model, torch.no_grad():
            for _ in range(self.length):
                logits = model(ids[:, -model.context:])[:, -1]
                token = torch.multinomial(logits.softmax(-1), 1, generator=rng)
                ids = torch.cat([ids, token], dim=1)
        self.texts.append(self.tokenizer.decode(ids[0].tolist()))


class BestCheckpoint(Callback):
    def __init__(self, folder, monitor="val_loss"):
        self.path = os.path.join(folder, "best.pt")
        self.monitor = monitor
        self.best = float("inf")

    def on_epoch_end(self, trainer, metrics):
        if metrics[self.monitor] < self.best:
            self.best = metrics[self.monitor]
            torch.save({"epoch": trainer.epoch, "model": trainer.model.state_dict()}, self.path)

    def on_train_end(self, trainer):
        state = torch.load(self.path, map_location=trainer.device)
        trainer.model.load_state_dict(state["model"])
