import torch
from vector_quantize_pytorch import LatentQuantize

quantizer = LatentQuantize(levels=[4, 8, 16], dim=9, optimize_values=False).cuda()
quantizer(torch.randn(2, 9, 16, 16, device="cuda"))
