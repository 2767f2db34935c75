import torch
import torch.nn.functional as F

from utils.buffer import Buffer
from utils.scenario import augment

from .base import ContinualModel


class Der(ContinualModel):
    NAME = "der"

    def __init__(self, *a, **kw):
        super().__init__(*a, **kw)
        self.buffer = Buffer(self.args.buffer_size, seed=self.args.seed)
        self._logits = None

    def observe(self, x, not_aug_x, y):
        out = self(x)
        self._logits = out.detach()
        loss = F.cross_entropy(out, y)
        if not self.buffer.is_empty:
            loss = loss + self.replay_penalty()
        return loss

    def replay_penalty(self):
        ex, old = self.buffer.sample(self.args.minibatch, ("examples", "logits"))
        ex, old = ex.to(self.device), old.to(self.device)
        return self.args.alpha * F.mse_loss(self(augment(ex)), old)

    def after_step(self, x, not_aug_x, y):
        tid = torch.full_like(y, self.current_task)
        self.buffer.add(examples=not_aug_x, labels=y, logits=self._logits, task_ids=tid)

    def end_task(self, task):
        print(f"  buffer after task {task}: {self.buffer.class_histogram(self.num_classes).tolist()}")


class DerPP(Der):
    NAME = "derpp"

    def replay_penalty(self):
        penalty = super().replay_penalty()
        ex, labels, tids = self.buffer.sample(self.args.minibatch, ("examples", "labels", "task_ids"))
        old = tids < self.current_task
        if old.any():
            ex, labels = ex[old], labels[old]
            ex = ex.to(self.device)
            labels = labels.to(self.device)
            penalty = penalty + self.args.beta * F.cross_entropy(self(augment(ex)), labels)
        return penalty
