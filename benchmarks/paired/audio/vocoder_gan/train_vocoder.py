# Small HiFi-GAN like vocoder on synthetic harmonics.
# usage: python train_vocoder.py --steps 4
from __future__ import print_function

import argparse
import copy
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import weight_norm

parser = argparse.ArgumentParser(description='toy vocoder GAN')
parser.add_argument('--batch-size', type=int, default=4)
parser.add_argument('--steps', type=int, default=4)
parser.add_argument('--lr', type=float, default=2e-4)
parser.add_argument('--lambda-fm', type=float, default=2.0)
parser.add_argument('--lambda-mel', type=float, default=15.0)
parser.add_argument('--ema', type=float, default=0.9)
parser.add_argument('--save-every', type=int, default=2)
parser.add_argument('--no-cuda', action='store_true', default=False)
parser.add_argument('--seed', type=int, default=1)
args = parser.parse_args()
use_cuda = not args.no_cuda and torch.cuda.is_available()

torch.manual_seed(args.seed)
np.random.seed(args.seed)
if use_cuda:
    torch.cuda.manual_seed(args.seed)

SR, HOP, N_FFT, BANDS, FRAMES = 4000, 16, 64, 12, 16

band_matrix = torch.zeros(BANDS, N_FFT // 2 + 1)
for b in range(BANDS):
    lo = int(round((N_FFT // 2) * (b / BANDS) ** 1.3))
    hi = max(lo + 2, int(round((N_FFT // 2) * ((b + 1) / BANDS) ** 1.3)) + 1)
    band_matrix[b, lo:hi] = 1.0 / (hi - lo)
window = torch.hann_window(N_FFT)


def bandspec(wav, window, bands):
    spec = torch.stft(wav, N_FFT, HOP, window=window, return_complex=True).abs()
    return torch.log(torch.matmul(bands, spec)[..., :FRAMES] + 1e-4)


class ResBlock(nn.Module):
    def __init__(self, ch, dilation):
        super(ResBlock, self).__init__()
        self.conv = weight_norm(nn.Conv1d(ch, ch, 3, padding=dilation, dilation=dilation))

    def forward(self, x):
        return x + self.conv(F.leaky_relu(x, 0.1))


class Generator(nn.Module):
    def __init__(self, ch=16):
        super(Generator, self).__init__()
        self.pre = weight_norm(nn.Conv1d(BANDS, ch, 5, padding=2))
        ups = []
        for _ in range(2):
            ups += [nn.LeakyReLU(0.1), nn.ConvTranspose1d(ch, ch, 8, stride=4, padding=2),
                    ResBlock(ch, 1), ResBlock(ch, 3)]
        self.ups = nn.Sequential(*ups)
        self.post = nn.Conv1d(ch, 1, 7, padding=3)

    def forward(self, mel):
        return torch.tanh(self.post(self.ups(self.pre(mel)))).squeeze(1)


class PeriodDiscriminator(nn.Module):
    def __init__(self, period, ch=8):
        super(PeriodDiscriminator, self).__init__()
        self.period = period
        self.convs = nn.ModuleList([
            nn.Conv2d(1, ch, (5, 1), (3, 1), padding=(2, 0)),
            nn.Conv2d(ch, ch, (5, 1), (3, 1), padding=(2, 0)),
        ])
        self.post = nn.Conv2d(ch, 1, (3, 1), padding=(1, 0))

    def forward(self, wav):
        pad = (-wav.size(-1)) % self.period
        x = F.pad(wav.unsqueeze(1), (0, pad), mode='reflect')
        x = x.view(x.size(0), 1, -1, self.period)
        feats = []
        for conv in self.convs:
            x = F.leaky_relu(conv(x), 0.1)
            feats.append(x)
        return self.post(x).flatten(1), feats


def sample_batch(n):
    """numpy on purpose: the real loader reads wav files with soundfile"""
    t = np.arange(HOP * FRAMES) / float(SR)
    f0 = np.random.uniform(80, 400, size=(n, 1))
    amp = np.random.uniform(0.2, 0.6, size=(n, 3, 1))
    wav = sum(amp[:, k] * np.sin(2 * np.pi * f0 * (k + 1) * t) / (k + 1) for k in range(3))
    return torch.from_numpy(wav.astype('float32'))


def update_ema(ema, model, decay):
    with torch.no_grad():
        for pe, p in zip(ema.parameters(), model.parameters()):
            pe.mul_(decay).add_(p, alpha=1 - decay)


netG = Generator()
netD = nn.ModuleList([PeriodDiscriminator(p) for p in (2, 3, 5)])
if use_cuda:
    netG.cuda()
    netD.cuda()
    window = window.cuda()
    band_matrix = band_matrix.cuda()
netE = copy.deepcopy(netG).eval()
for p in netE.parameters():
    p.requires_grad_(False)

optG = torch.optim.Adam(netG.parameters(), lr=args.lr, betas=(0.8, 0.99))
optD = torch.optim.Adam(netD.parameters(), lr=args.lr, betas=(0.8, 0.99))
test_wav = sample_batch(2)
tmp = tempfile.TemporaryDirectory(prefix='vocoder_')
out_dir = tmp.name

for step in range(1, args.steps + 1):
    real = sample_batch(args.batch_size)
    if use_cuda:
        real = real.cuda()
    mel = bandspec(real, window, band_matrix)
    fake = netG(mel)

    # discriminators, least squares
    lossD = 0
    for d in netD:
        lossD = lossD + ((d(real)[0] - 1) ** 2).mean() + (d(fake.detach())[0] ** 2).mean()
    optD.zero_grad()
    lossD.backward()
    optD.step()

    # generator
    lossG = args.lambda_mel * F.l1_loss(bandspec(fake, window, band_matrix), mel)
    for d in netD:
        score, feats = d(fake)
        with torch.no_grad():
            _, real_feats = d(real)
        lossG = lossG + ((score - 1) ** 2).mean()
        lossG = lossG + args.lambda_fm * sum(F.l1_loss(a, b) for a, b in zip(feats, real_feats))
    optG.zero_grad()
    lossG.backward()
    optG.step()
    update_ema(netE, netG, args.ema)
    print('[%d/%d] D %.3f G %.3f' % (step, args.steps, lossD.item(), lossG.item()))

    if step % args.save_every == 0:
        # sample and save from the CPU copy, the demo page wants int16
        netE.cpu()
        with torch.no_grad():
            wav = netE(bandspec(test_wav, window.cpu(), band_matrix.cpu()))
        pcm = (wav.numpy() * 32767).astype('int16')
        np.save(os.path.join(out_dir, 'sample_%04d.npy' % step), pcm)
        torch.save(netE.state_dict(), os.path.join(out_dir, 'ema_%04d.pth' % step))
        if use_cuda:
            netE.cuda()

final = torch.load(os.path.join(out_dir, sorted(f for f in os.listdir(out_dir) if 'ema' in f)[-1]))
netG.load_state_dict(final)
print(len(os.listdir(out_dir)), 'files written, norm of pre', round(netG.pre.weight.norm().item(), 3))
tmp.cleanup()
