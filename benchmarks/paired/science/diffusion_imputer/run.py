import math

import torch
from torch.utils.data import TensorDataset

from imputer import ImputationTrainer
from imputer.denoiser import Denoiser
from imputer.diffusion import GaussianDiffusion

CONFIG = {
    'device': 'cuda:0',
    'seed': 4,
    'length': 24,
    'features': 3,
    'steps': 10,
    'batch_size': 16,
    'epochs': 2,
    'lr': 2e-3,
    'ema_decay': 0.9,
}


def sensors(n, length, features, missing=0.1, held_out=0.2):
    t = torch.linspace(0, 1, length)
    phase = 2 * math.pi * torch.rand(n, 1, features)
    freq = torch.randint(1, 4, (n, 1, features))
    x = torch.sin(2 * math.pi * freq * t[None, :, None] + phase) + 0.1 * torch.randn(n, length, features)
    observed = (torch.rand_like(x) > missing).float()
    cond = observed * (torch.rand_like(x) > held_out).float()
    return TensorDataset(x * observed, observed, cond)


def main():
    torch.manual_seed(CONFIG['seed'])
    train = sensors(48, CONFIG['length'], CONFIG['features'])
    test = sensors(16, CONFIG['length'], CONFIG['features'])
    net = Denoiser(CONFIG['features'], steps=CONFIG['steps'])
    model = GaussianDiffusion(net, steps=CONFIG['steps'])
    trainer = ImputationTrainer(model, CONFIG)
    trainer.train(train)
    print('imputation MAE %.4f' % trainer.evaluate(test))


if __name__ == '__main__':
    main()
