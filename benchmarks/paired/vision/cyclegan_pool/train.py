import random

import torch

import options
from models.cycle_gan_model import CycleGANModel


def unaligned_batches(n, batch_size, size=16):
    """domain A: horizontal bars, domain B: vertical bars"""
    for _ in range(n):
        wave = torch.sin(torch.linspace(0, 9, size).view(1, 1, size, 1) * (0.5 + torch.rand(batch_size, 3, 1, 1)))
        a = wave.expand(-1, -1, size, size)
        b = a.flip(0).transpose(2, 3)
        yield {'A': a.contiguous(), 'B': b.contiguous()}


if __name__ == '__main__':
    opt = options.parse()
    random.seed(1)
    torch.manual_seed(1)
    model = CycleGANModel(opt)
    for i, data in enumerate(unaligned_batches(opt.n_iters, opt.batch_size)):
        model.set_input(data)
        model.optimize_parameters()
        if i % 2 == 0:
            message = ' '.join('%s: %.3f' % kv for kv in model.get_current_losses().items())
            print('(iters: %d) %s' % (i, message))
