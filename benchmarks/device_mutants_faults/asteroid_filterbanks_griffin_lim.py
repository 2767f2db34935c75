import torch
from asteroid_filterbanks import STFTFB, Encoder, griffin_lim, transforms

stft = Encoder(STFTFB(256, 256, 128)).cuda()
magnitudes = transforms.mag(stft(torch.randn(2, 1, 8000, device="cuda")), -2)
griffin_lim(magnitudes, stft)
