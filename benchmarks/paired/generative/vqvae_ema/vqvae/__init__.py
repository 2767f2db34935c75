from .model import VQVAE
from .quantizer import EMAVectorQuantizer

__all__ = ["VQVAE", "EMAVectorQuantizer"]
