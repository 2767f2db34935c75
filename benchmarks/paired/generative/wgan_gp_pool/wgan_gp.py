"""WGAN-GP on synthetic blobs, with a history pool of generated samples (Shrivastava et al.)."""
import argparse
import os
import random
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.autograd as autograd
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--n_epochs", type=int, default=2, help="number of epochs of training")
parser.add_argument("--batch_size", type=int, default=32, help="size of the batches")
parser.add_argument("--lr", type=float, default=2e-4)
parser.add_argument("--b1", type=float, default=0.5)
parser.add_argument("--b2", type=float, default=0.9)
parser.add_argument("--latent_dim", type=int, default=16)
parser.add_argument("--img_size", type=int, default=8)
parser.add_argument("--n_critic", type=int, default=3)
parser.add_argument("--pool_size", type=int, default=64)
parser.add_argument("--sample_interval", type=int, default=2)
opt = parser.parse_args()
print(opt)

img_shape = (1, opt.img_size, opt.img_size)
cuda = torch.cuda.is_available()
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
lambda_gp = 10
out_dir = tempfile.mkdtemp(prefix="wgan_")

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()

        def block(in_feat, out_feat, normalize=True):
            layers = [nn.Linear(in_feat, out_feat)]
            if normalize:
                layers.append(nn.BatchNorm1d(out_feat, 0.8))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers

        self.model = nn.Sequential(
            *block(opt.latent_dim, 32, normalize=False),
            *block(32, 64),
            nn.Linear(64, int(np.prod(img_shape))),
            nn.Tanh(),
        )

    def forward(self, z):
        img = self.model(z)
        return img.view(img.shape[0], *img_shape)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(
            nn.Linear(int(np.prod(img_shape)), 64),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(64, 32),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(32, 1),
        )

    def forward(self, img):
        return self.model(img.view(img.shape[0], -1))


class ImagePool:
    """Keeps up to `size` previously generated images in host memory.

    query() hands back the batch with about half of its images replaced by old ones.
    """

    def __init__(self, size):
        self.size = size
        self.images = []

    def query(self, images):
        if self.size == 0:
            return images
        result = []
        for image in images.detach().cpu():
            if len(self.images) < self.size:
                self.images.append(image.clone())
                result.append(image)
            elif random.random() > 0.5:
                idx = random.randrange(self.size)
                old = self.images[idx]
                self.images[idx] = image.clone()
                result.append(old)
            else:
                result.append(image)
        return torch.stack(result).to(images.device)


def make_blobs(n=160):
    yy, xx = np.mgrid[0:opt.img_size, 0:opt.img_size].astype(np.float32)
    imgs = np.empty((n, *img_shape), dtype=np.float32)
    for i in range(n):
        cy, cx = np.random.uniform(1, opt.img_size - 2, size=2)
        imgs[i, 0] = np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / 3.0)
    return TensorDataset(torch.from_numpy(imgs * 2 - 1))


def compute_gradient_penalty(D, real_samples, fake_samples):
    alpha = Tensor(np.random.random((real_samples.size(0), 1, 1, 1)).astype(np.float32).tolist())
    interpolates = (alpha * real_samples + ((1 - alpha) * fake_samples)).requires_grad_(True)
    d_interpolates = D(interpolates)
    fake = Tensor(real_samples.shape[0], 1).fill_(1.0)
    gradients = autograd.grad(
        outputs=d_interpolates,
        inputs=interpolates,
        grad_outputs=fake,
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    gradients = gradients.view(gradients.size(0), -1)
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


generator = Generator()
discriminator = Discriminator()
if cuda:
    generator.cuda()
    discriminator.cuda()

dataloader = DataLoader(make_blobs(), batch_size=opt.batch_size, shuffle=True, drop_last=True)
optimizer_G = torch.optim.Adam(generator.parameters(), lr=opt.lr, betas=(opt.b1, opt.b2))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=opt.lr, betas=(opt.b1, opt.b2))
pool = ImagePool(opt.pool_size)

fixed_z = torch.randn(16, opt.latent_dim)
if cuda:
    fixed_z = fixed_z.cuda()

batches_done = 0
for epoch in range(opt.n_epochs):
    for i, (imgs,) in enumerate(dataloader):
        real_imgs = imgs.type(Tensor)

        optimizer_D.zero_grad()
        z = Tensor(np.random.normal(0, 1, (imgs.shape[0], opt.latent_dim)).tolist())
        fake_imgs = pool.query(generator(z))

        real_validity = discriminator(real_imgs)
        fake_validity = discriminator(fake_imgs)
        gp = compute_gradient_penalty(discriminator, real_imgs.data, fake_imgs.data)
        d_loss = -torch.mean(real_validity) + torch.mean(fake_validity) + lambda_gp * gp
        d_loss.backward()
        optimizer_D.step()

        if i % opt.n_critic == 0:
            optimizer_G.zero_grad()
            g_loss = -torch.mean(discriminator(generator(z)))
            g_loss.backward()
            optimizer_G.step()
            print("[Epoch %d/%d] [Batch %d/%d] [D loss: %f] [G loss: %f]"
                  % (epoch, opt.n_epochs, i, len(dataloader), d_loss.item(), g_loss.item()))

            if batches_done % opt.sample_interval == 0:
                generator.eval()
                with torch.no_grad():
                    grid = generator(fixed_z).cpu().numpy()
                generator.train()
                np.save(os.path.join(out_dir, "%d.npy" % batches_done), grid)
            batches_done += 1

torch.save({"G": generator.state_dict(), "D": discriminator.state_dict()}, os.path.join(out_dir, "last.pth"))
hist = torch.stack(pool.images)
print("pool mean %.4f std %.4f" % (hist.mean().item(), hist.std().item()))
