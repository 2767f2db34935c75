# Tiny VQ-VAE with EMA-free codebook and dead code restarts (as in Jukebox).
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

dev = torch.device('cuda:0' if torch.cuda.is_available() else 'cpu')
rng = np.random.RandomState(7)
torch.manual_seed(7)

EPOCHS = 3
K, D = 32, 8
BETA = 0.25
RESTART_EVERY = 10
THRESHOLD = 2


def make_blobs(n=320, size=16):
    """Images with one soft blob each."""
    yy, xx = np.mgrid[0:size, 0:size]
    out = np.zeros((n, 1, size, size), dtype=np.float32)
    for i in range(n):
        cy, cx = rng.uniform(3, size - 3, 2)
        s = rng.uniform(1.5, 4)
        out[i, 0] = np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / (2 * s ** 2))
    return torch.from_numpy(out)


class Quantizer(nn.Module):
    def __init__(self, K, D):
        super().__init__()
        self.K, self.D = K, D
        self.embedding = nn.Embedding(K, D)
        self.embedding.weight.data.uniform_(-1.0 / K, 1.0 / K)
        self.register_buffer('usage', torch.zeros(K))

    def forward(self, z):
        b, d, h, w = z.shape
        flat = z.permute(0, 2, 3, 1).reshape(-1, d)
        e = self.embedding.weight
        dist = flat.pow(2).sum(1, keepdim=True) - 2 * flat @ e.t() + e.pow(2).sum(1)
        idx = dist.argmin(1)
        if self.training:
            self.usage += torch.bincount(idx, minlength=self.K)
        q = self.embedding(idx).view(b, h, w, d).permute(0, 3, 1, 2)
        loss = F.mse_loss(q, z.detach()) + BETA * F.mse_loss(z, q.detach())
        q = z + (q - z).detach()
        return q, loss, idx

    @torch.no_grad()
    def restart_dead_codes(self, flat):
        usage = self.usage.cpu().numpy()
        dead = np.flatnonzero(usage < THRESHOLD)
        if len(dead):
            codes = self.embedding.weight.data.cpu().numpy()
            picks = rng.choice(flat.shape[0], len(dead))
            codes[dead] = flat[picks].cpu().numpy() + 0.01 * rng.randn(len(dead), self.D)
            self.embedding.weight.data.copy_(torch.from_numpy(codes))
        self.usage.zero_()
        return len(dead)


class VQVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(
            nn.Conv2d(1, 16, 4, 2, 1), nn.ReLU(inplace=True),
            nn.Conv2d(16, 16, 4, 2, 1), nn.ReLU(inplace=True),
            nn.Conv2d(16, D, 1))
        self.vq = Quantizer(K, D)
        self.dec = nn.Sequential(
            nn.Conv2d(D, 16, 3, 1, 1), nn.ReLU(inplace=True),
            nn.ConvTranspose2d(16, 16, 4, 2, 1), nn.ReLU(inplace=True),
            nn.ConvTranspose2d(16, 1, 4, 2, 1))

    def forward(self, x):
        z = self.enc(x)
        q, vq_loss, idx = self.vq(z)
        return self.dec(q), vq_loss, z, idx


def perplexity(idx):
    p = torch.bincount(idx, minlength=K).float()
    p = p / p.sum()
    return torch.exp(-(p * torch.log(p + 1e-10)).sum()).item()


def main():
    loader = DataLoader(TensorDataset(make_blobs()), batch_size=32, shuffle=True)
    net = VQVAE().to(dev)
    optim = torch.optim.Adam(net.parameters(), lr=1e-3)
    it = 0
    for epoch in range(EPOCHS):
        total, used = 0., []
        for (x,) in loader:
            x = x.to(dev)
            rec, vq_loss, z, idx = net(x)
            loss = F.mse_loss(rec, x) + vq_loss
            optim.zero_grad()
            loss.backward()
            optim.step()
            total += loss.item()
            used.append(perplexity(idx))
            it += 1
            if it % RESTART_EVERY == 0:
                flat = z.detach().permute(0, 2, 3, 1).reshape(-1, D)
                n = net.vq.restart_dead_codes(flat)
                print('  it %d: restarted %d codes' % (it, n))
        print('epoch %d loss %.4f perplexity %.2f' % (epoch, total / len(loader), np.mean(used)))


if __name__ == '__main__':
    main()
