import argparse
from math import log10

import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader

from sr.dataset import SyntheticTextures
from sr.model import ESPCN
from sr.ssim import SSIM, ssim

parser = argparse.ArgumentParser(description='Super Res Example')
parser.add_argument('--upscale', type=int, default=2, help='super resolution upscale factor')
parser.add_argument('--batch-size', type=int, default=8)
parser.add_argument('--epochs', type=int, default=2)
parser.add_argument('--lr', type=float, default=0.005)
parser.add_argument('--ssim-weight', type=float, default=0.2)
parser.add_argument('--no-cuda', action='store_true')
parser.add_argument('--seed', type=int, default=123)
opt = parser.parse_args()

torch.manual_seed(opt.seed)
device = torch.device('cuda' if torch.cuda.is_available() and not opt.no_cuda else 'cpu')

training_data_loader = DataLoader(SyntheticTextures(48, 24, opt.upscale), opt.batch_size, shuffle=True)
testing_data_loader = DataLoader(SyntheticTextures(12, 24, opt.upscale, seed=1), 6)

model = ESPCN(opt.upscale).to(device)
l1_loss = nn.L1Loss()
ssim_loss = SSIM()
optimizer = optim.Adam(model.parameters(), lr=opt.lr)


def train(epoch):
    epoch_loss = 0
    for iteration, batch in enumerate(training_data_loader, 1):
        input, target = batch[0].to(device), batch[1].to(device)
        optimizer.zero_grad()
        output = model(input)
        loss = l1_loss(output, target) + opt.ssim_weight * (1 - ssim_loss(output, target))
        epoch_loss += loss.item()
        loss.backward()
        optimizer.step()
    print('===> Epoch {} Complete: Avg. Loss: {:.4f}'.format(epoch, epoch_loss / len(training_data_loader)))


@torch.no_grad()
def test():
    avg_psnr = avg_ssim = 0
    for batch in testing_data_loader:
        input, target = batch[0].to(device), batch[1].to(device)
        prediction = model(input).clamp(0, 1)
        mse = torch.mean((prediction - target) ** 2)
        avg_psnr += 10 * log10(1 / mse.item())
        avg_ssim += ssim(prediction, target).item()
    n = len(testing_data_loader)
    print('===> Avg. PSNR: {:.2f} dB, SSIM: {:.3f}'.format(avg_psnr / n, avg_ssim / n))


for epoch in range(1, opt.epochs + 1):
    train(epoch)
    test()
