import torch
from asteroid_filterbanks import transforms

phase = torch.zeros(2, 129, 10, device="cuda")
transforms.phase_centerfreq_correction(phase, kernel_size=256, stride=128)
