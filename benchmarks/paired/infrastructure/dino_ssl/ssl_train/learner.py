import copy
import math

import torch

from .augment import TwoViews
from .heads import build_network
from .loss import DINOLoss


class Learner:
    def __init__(self, prototypes=24, lr=3e-3, base_momentum=0.95, total_steps=1, gpu=None):
        self.total_steps = total_steps
        self.base_momentum = base_momentum
        self.steps = 0
        self.gpu = gpu

        self.student = build_network(prototypes=prototypes)
        if gpu is not None:
            self.student.cuda(gpu)
        self.teacher = copy.deepcopy(self.student)
        self.teacher.requires_grad_(False)
        self.criterion = DINOLoss(prototypes)
        if gpu is not None:
            self.criterion.cuda(gpu)
        self.views = TwoViews()
        self.optimizer = torch.optim.AdamW(self.student.parameters(), lr=lr, weight_decay=0.04)

    def momentum(self):
        t = self.steps / max(1, self.total_steps)
        return 1 - (1 - self.base_momentum) * (math.cos(math.pi * t) + 1) / 2

    @torch.no_grad()
    def update_teacher(self):
        m = self.momentum()
        for ps, pt in zip(self.student.parameters(), self.teacher.parameters()):
            pt.mul_(m).add_(ps, alpha=1 - m)
        for bs, bt in zip(self.student.buffers(), self.teacher.buffers()):
            bt.copy_(bs)

    def train_step(self, x):
        if self.gpu is not None:
            x = x.cuda(self.gpu, non_blocking=True)
        a, b = self.views(x)
        self.student.train()
        with torch.no_grad():
            teacher_out = [self.teacher(a), self.teacher(b)]
        loss = self.criterion([self.student(a), self.student(b)], teacher_out)
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.student.parameters(), 3.0)
        self.optimizer.step()
        self.update_teacher()
        self.steps += 1
        return loss.item()

    @torch.no_grad()
    def embed(self, x):
        self.teacher.eval()
        if self.gpu is not None:
            x = x.cuda(self.gpu)
        z = self.teacher[0](x)
        self.teacher.train()
        return z.cpu().numpy()
