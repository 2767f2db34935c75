from byol_pytorch.byol import BYOL
from byol_pytorch.trainer import BYOLTrainer
