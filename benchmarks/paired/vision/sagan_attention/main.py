import torch

from parameters import get_parameters
from trainer import Trainer
from utils import gradient_images, inf_batches


def main(config):
    torch.manual_seed(0)
    data = inf_batches(gradient_images(64, config.imsize), config.batch_size)
    trainer = Trainer(data, config)
    images, attention = trainer.train()
    print('samples', tuple(images.shape), 'attention entropy %.3f' % (
        -(attention * attention.clamp(min=1e-12).log()).sum(-1).mean().item()))


if __name__ == '__main__':
    config = get_parameters()
    main(config)
