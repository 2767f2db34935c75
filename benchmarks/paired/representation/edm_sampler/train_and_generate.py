"""Train a tiny EDM on stripes, then generate with one seed per image."""
import argparse
import copy
import os
import tempfile

import numpy as np
import torch

from edm.loss import EDMLoss
from edm.networks import EDMPrecond
from edm.random_util import StackedRandomGenerator
from edm.sampler import edm_sampler


def parse_int_list(s):
    out = []
    for part in s.split(','):
        lo, _, hi = part.partition('-')
        out.extend(range(int(lo), int(hi or lo) + 1))
    return out


def stripes(batch, res, device):
    cls = torch.randint(2, [batch])
    ramp = torch.sin(torch.arange(res) * 0.8 + torch.rand([batch, 1]) * 6.28)
    imgs = torch.where(cls[:, None, None].bool(), ramp[:, None, :].expand(-1, res, -1), ramp[:, :, None].expand(-1, -1, res))
    return imgs[:, None].to(device) * 0.5, torch.eye(2, device=device)[cls]


def training_loop(net, device, steps, batch, lr=2e-3, ema_beta=0.9):
    loss_fn = EDMLoss()
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    ema = copy.deepcopy(net).eval().requires_grad_(False)
    for step in range(steps):
        images, labels = stripes(batch, net.img_resolution, device)
        optimizer.zero_grad(set_to_none=True)
        loss = loss_fn(net, images, labels).mean()
        loss.backward()
        for param in net.parameters():
            if param.grad is not None:
                torch.nan_to_num(param.grad, nan=0, posinf=1e5, neginf=-1e5, out=param.grad)
        optimizer.step()
        for p_ema, p_net in zip(ema.parameters(), net.parameters()):
            p_ema.copy_(p_net.detach().lerp(p_ema, ema_beta))
        if step % 10 == 0:
            print(f'tick {step // 10}  loss {loss.item():.3f}')
    return ema


@torch.no_grad()
def generate(net, outdir, seeds, max_batch, device, class_idx=None, **sampler_kwargs):
    for batch_seeds in torch.as_tensor(seeds).split(max_batch):
        rnd = StackedRandomGenerator(device, batch_seeds)
        n = len(batch_seeds)
        latents = rnd.randn([n, net.img_channels, net.img_resolution, net.img_resolution], device=device)
        class_labels = None
        if net.label_dim:
            class_labels = torch.eye(net.label_dim, device=device)[rnd.randint(net.label_dim, size=[n], device=device)]
        if class_idx is not None:
            class_labels[:, :] = 0
            class_labels[:, class_idx] = 1
        images = edm_sampler(net, latents, class_labels, randn_like=rnd.randn_like, **sampler_kwargs)
        images_np = (images * 127.5 + 128).clip(0, 255).to(torch.uint8).permute(0, 2, 3, 1).cpu().numpy()
        for seed, image in zip(batch_seeds, images_np):
            np.save(os.path.join(outdir, f'{seed:06d}.npy'), image)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--seeds', type=parse_int_list, default='0-5')
    parser.add_argument('--train-steps', type=int, default=30)
    parser.add_argument('--sample-steps', type=int, default=6)
    parser.add_argument('--batch', type=int, default=4, help='maximum batch size')
    parser.add_argument('--class', dest='class_idx', type=int, default=None)
    parser.add_argument('--S-churn', type=float, default=2)
    opts = parser.parse_args()

    torch.manual_seed(0)
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    net = EDMPrecond(img_resolution=8, img_channels=1, label_dim=2).to(device)
    ema = training_loop(net, device, opts.train_steps, batch=16)
    with tempfile.TemporaryDirectory() as outdir:
        generate(ema, outdir, opts.seeds, opts.batch, device, opts.class_idx,
                 num_steps=opts.sample_steps, S_churn=opts.S_churn)
        files = sorted(os.listdir(outdir))
        print(len(files), 'images, mean of the first', np.load(os.path.join(outdir, files[0])).mean().round(2))


if __name__ == '__main__':
    main()
