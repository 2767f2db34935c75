import torch
import torch.nn as nn
import torch.nn.functional as F

from buffer import ReservoirBuffer


class Learner(nn.Module):
    def __init__(self, net, args):
        super().__init__()
        self.net = net
        self.args = args
        self.device = args.device
        self.opt = torch.optim.SGD(self.net.parameters(), lr=args.lr)

    def observe(self, x, y):
        raise NotImplementedError

    def forward(self, x):
        return self.net(x)

    def end_task(self, t):
        pass


class Finetune(Learner):
    def observe(self, x, y):
        loss = F.cross_entropy(self.net(x), y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


class DERpp(Learner):
    """Dark Experience Replay++ (Buzzega et al. 2020)."""

    def __init__(self, net, args):
        super().__init__(net, args)
        where = args.device if args.buffer_on_gpu else "cpu"
        self.buffer = ReservoirBuffer(args.buffer_size, where, seed=args.seed)

    def observe(self, x, y):
        self.opt.zero_grad()
        out = self.net(x)
        loss = F.cross_entropy(out, y)
        if len(self.buffer):
            bx, _, blogits = self.buffer.sample(self.args.minibatch, self.device)
            loss = loss + self.args.alpha * F.mse_loss(self.net(bx), blogits)
            bx, by, _ = self.buffer.sample(self.args.minibatch, self.device)
            loss = loss + self.args.beta * F.cross_entropy(self.net(bx), by)
        loss.backward()
        self.opt.step()
        self.buffer.add(x, y, out)
        return loss.item()

    def end_task(self, t):
        print("  buffer after task %d: %s" % (t, self.buffer.class_counts(self.args.num_classes)))


LEARNERS = {c.__name__.lower(): c for c in (Finetune, DERpp)}
