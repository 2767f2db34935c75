from .callbacks import EPEOnHost, LRLogger
from .model import PyramidFlow
from .trainer import FlowTrainer
