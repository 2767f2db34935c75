from .discriminator import Discriminator
from .policy import GaussianPolicy
from .trainer import Trainer
