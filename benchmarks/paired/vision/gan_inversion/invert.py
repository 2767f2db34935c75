"""Project images into the latent space of a (here: quickly fitted) generator.

    python invert.py --n-images 4 --steps 40
"""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class Generator(nn.Module):
    def __init__(self, z_dim=16, ch=16):
        super().__init__()
        self.z_dim = z_dim
        self.fc = nn.Linear(z_dim, ch * 4 * 4)
        self.up = nn.Sequential(
            nn.ConvTranspose2d(ch, ch, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.ConvTranspose2d(ch, ch // 2, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.Conv2d(ch // 2, 3, 3, 1, 1), nn.Tanh(),
        )

    def forward(self, z):
        h = self.fc(z).view(z.size(0), -1, 4, 4)
        return self.up(h)


class PerceptualNet(nn.Module):
    """Frozen random features as a cheap perceptual distance."""

    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList([
            nn.Conv2d(3, 8, 3, 2, 1),
            nn.Conv2d(8, 16, 3, 2, 1),
        ])
        for p in self.parameters():
            p.requires_grad = False

    def forward(self, a, b):
        dist = 0.
        for stage in self.stages:
            a, b = F.relu(stage(a)), F.relu(stage(b))
            dist = dist + F.mse_loss(a, b)
        return dist


def mean_latent(generator, device, n=256):
    with torch.no_grad():
        z = torch.randn(n, generator.z_dim, device=device)
        return z.mean(0, keepdim=True), z.std(0, keepdim=True)


def invert(generator, perceptual, images, args, device):
    z_avg, z_std = mean_latent(generator, device)
    z = torch.randn(images.size(0), generator.z_dim, device=device) * 0.1
    z.requires_grad_(True)
    optimizer = torch.optim.Adam([z], lr=args.lr, betas=(0.9, 0.999))

    first = None
    for step in range(args.steps):
        t = step / args.steps
        optimizer.param_groups[0]['lr'] = args.lr * min(1.0, (1 - t) / 0.25)

        recon = generator(z)
        mse = F.mse_loss(recon, images)
        prior = (((z - z_avg) / z_std) ** 2).mean()
        loss = mse + args.w_percep * perceptual(recon, images) + args.w_prior * prior

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if first is None:
            first = mse.item()
        if step % 10 == 0:
            print('[{:3d}/{}] mse {:.4f} prior {:.3f}'.format(step, args.steps, mse.item(), prior.item()))
    return z.detach(), first, mse.item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--n-images', type=int, default=4)
    p.add_argument('--steps', type=int, default=40)
    p.add_argument('--lr', type=float, default=0.1)
    p.add_argument('--w-percep', type=float, default=0.5)
    p.add_argument('--w-prior', type=float, default=1e-3)
    p.add_argument('--seed', type=int, default=5)
    args = p.parse_args()

    torch.manual_seed(args.seed)
    device = 'cuda' if torch.cuda.is_available() else 'cpu'

    generator = Generator().to(device).eval()
    for prm in generator.parameters():
        prm.data.mul_(1.5)
        prm.requires_grad_(False)
    perceptual = PerceptualNet().to(device)

    with torch.no_grad():
        targets = generator(torch.randn(args.n_images, generator.z_dim, device=device))

    z, before, after = invert(generator, perceptual, targets, args, device)
    print('latent norm {:.3f}, mse {:.4f} -> {:.4f}'.format(z.norm(dim=1).mean().item(), before, after))


if __name__ == '__main__':
    main()
