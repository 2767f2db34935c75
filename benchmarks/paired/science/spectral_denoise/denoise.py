"""
Tiny speech-denoising demo: a GRU predicts a magnitude mask in the STFT domain.
"Speech" is a sum of drifting harmonics, noise is coloured Gaussian noise.
"""
import math
import sys

import torch
import torch.nn as nn

SR = 8000
N_FFT = 128
HOP = 64
DUR = 2048

use_cuda = torch.cuda.is_available() and '--cpu' not in sys.argv
print('cuda' if use_cuda else 'cpu')


def harmonics(batch):
    t = torch.arange(DUR).float() / SR
    f0 = 100 + 150 * torch.rand(batch, 1)
    drift = 1 + 0.1 * torch.sin(2 * math.pi * 3 * t)[None]
    out = torch.zeros(batch, DUR)
    for k in range(1, 6):
        amp = torch.rand(batch, 1) / k
        out = out + amp * torch.sin(2 * math.pi * k * f0 * drift * t)
    return out


def coloured_noise(batch):
    white = torch.randn(batch, DUR)
    spec = torch.fft.rfft(white)
    freq = torch.arange(spec.shape[-1]).clamp(min=1).float()
    return torch.fft.irfft(spec / freq ** 0.25, n=DUR)


def mix(clean, noise, snr_db):
    p_c = clean.pow(2).mean(-1, keepdim=True)
    p_n = noise.pow(2).mean(-1, keepdim=True)
    gain = torch.sqrt(p_c / (p_n * 10 ** (snr_db / 10)) + 1e-8)
    return clean + gain * noise


def stft(x):
    window = torch.hann_window(N_FFT).to(x.device)
    return torch.stft(x, N_FFT, HOP, window=window, return_complex=True)


def istft(X, length):
    window = torch.hann_window(N_FFT).to(X.device)
    return torch.istft(X, N_FFT, HOP, window=window, length=length)


class MaskNet(nn.Module):
    def __init__(self, n_bins=N_FFT // 2 + 1, hidden=32):
        super().__init__()
        self.norm = nn.LayerNorm(n_bins)
        self.rnn = nn.GRU(n_bins, hidden, batch_first=True)
        self.out = nn.Linear(hidden, n_bins)

    def forward(self, mag):
        # mag: B x F x T
        x = torch.log1p(mag).transpose(1, 2)
        h, _ = self.rnn(self.norm(x))
        return torch.sigmoid(self.out(h)).transpose(1, 2)


def si_sdr(est, ref, eps=1e-8):
    est = est - est.mean(-1, keepdim=True)
    ref = ref - ref.mean(-1, keepdim=True)
    scale = (est * ref).sum(-1, keepdim=True) / (ref.pow(2).sum(-1, keepdim=True) + eps)
    target = scale * ref
    noise = est - target
    return 10 * torch.log10((target.pow(2).sum(-1) + eps) / (noise.pow(2).sum(-1) + eps))


def enhance(net, noisy):
    X = stft(noisy)
    mask = net(X.abs())
    return istft(X * mask, noisy.shape[-1])


torch.manual_seed(5)
net = MaskNet()
if use_cuda:
    net = net.cuda()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)

for step in range(12):
    clean = harmonics(6)
    noisy = mix(clean, coloured_noise(6), snr_db=0.)
    if use_cuda:
        clean, noisy = clean.cuda(), noisy.cuda()
    X, C = stft(noisy), stft(clean)
    mask = net(X.abs())
    spectral = (mask * X.abs() - C.abs()).abs().mean()
    wave = (istft(X * mask, DUR) - clean).abs().mean()
    loss = spectral + wave
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    if step % 4 == 0:
        print('step %d: spectral %.3f wave %.3f' % (step, spectral.item(), wave.item()))

net.eval()
with torch.no_grad():
    clean = harmonics(8)
    noisy = mix(clean, coloured_noise(8), 0.)
    if use_cuda:
        clean, noisy = clean.cuda(), noisy.cuda()
    est = enhance(net, noisy)
    before, after = si_sdr(noisy, clean).mean(), si_sdr(est, clean).mean()
print('SI-SDR %.2f dB -> %.2f dB' % (before, after))
