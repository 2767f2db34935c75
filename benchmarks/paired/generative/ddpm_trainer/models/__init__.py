from .unet import TinyUNet
from .diffusion import GaussianDiffusion
