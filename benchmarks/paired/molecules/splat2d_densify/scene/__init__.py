from scene.gaussians import GaussianModel2D
from scene.image import make_target, psnr

__all__ = ["GaussianModel2D", "make_target", "psnr"]
