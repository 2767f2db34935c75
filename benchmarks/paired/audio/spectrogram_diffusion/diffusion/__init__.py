from diffusion.schedule import CosineSchedule
from diffusion.process import GaussianDiffusion
from diffusion.unet import SpecUNet
