from abc import ABCMeta, abstractmethod

import torch
import torch.nn as nn


class ContinualModel(nn.Module, metaclass=ABCMeta):
    NAME: str

    def __init__(self, backbone, num_classes, args, device):
        super().__init__()
        self.net = backbone
        self.args = args
        self.device = device
        self.num_classes = num_classes
        self.to(device)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=args.lr, momentum=0.9)
        self.register_buffer("seen", torch.zeros(num_classes, dtype=torch.bool, device=device))
        self.current_task = -1

    def forward(self, x):
        return self.net(x)

    def begin_task(self, task):
        self.current_task = task

    def end_task(self, task):
        pass

    def predict(self, x):
        logits = self.forward(x)
        return logits.masked_fill(~self.seen, float("-inf")).argmax(dim=1)

    def meta_observe(self, x, not_aug_x, y):
        self.seen[y.unique()] = True
        self.opt.zero_grad()
        loss = self.observe(x, not_aug_x, y)
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 5.0)
        self.opt.step()
        self.after_step(x, not_aug_x, y)
        return loss.item()

    @abstractmethod
    def observe(self, x, not_aug_x, y):
        ...

    def after_step(self, x, not_aug_x, y):
        pass
