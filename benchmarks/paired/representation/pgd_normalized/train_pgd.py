import argparse
import logging
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

logger = logging.getLogger(__name__)

cifar10_mean = (0.4914, 0.4822, 0.4465)
cifar10_std = (0.2471, 0.2435, 0.2616)

use_gpu = torch.cuda.is_available()


def cuda(t):
    return t.cuda() if use_gpu else t


mu = cuda(torch.tensor(cifar10_mean).view(3, 1, 1))
std = cuda(torch.tensor(cifar10_std).view(3, 1, 1))

upper_limit = ((1 - mu) / std)
lower_limit = ((0 - mu) / std)


def clamp(X, lower_limit, upper_limit):
    return torch.max(torch.min(X, upper_limit), lower_limit)


class PreActBlock(nn.Module):
    def __init__(self, in_planes, planes, stride=1):
        super(PreActBlock, self).__init__()
        self.bn1 = nn.BatchNorm2d(in_planes)
        self.conv1 = nn.Conv2d(in_planes, planes, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, kernel_size=3, stride=1, padding=1, bias=False)
        if stride != 1 or in_planes != planes:
            self.shortcut = nn.Conv2d(in_planes, planes, kernel_size=1, stride=stride, bias=False)

    def forward(self, x):
        out = F.relu(self.bn1(x))
        shortcut = self.shortcut(out) if hasattr(self, 'shortcut') else x
        out = self.conv1(out)
        out = self.conv2(F.relu(self.bn2(out)))
        return out + shortcut


class SmallNet(nn.Module):
    def __init__(self, num_classes=10):
        super(SmallNet, self).__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.layer1 = PreActBlock(8, 16, 2)
        self.layer2 = PreActBlock(16, 16, 2)
        self.linear = nn.Linear(16, num_classes)

    def forward(self, x):
        out = self.layer2(self.layer1(self.conv1(x)))
        return self.linear(F.relu(out).mean((2, 3)))


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch-size', default=32, type=int)
    parser.add_argument('--epochs', default=2, type=int)
    parser.add_argument('--lr-max', default=0.1, type=float)
    parser.add_argument('--epsilon', default=8, type=int)
    parser.add_argument('--alpha', default=2, type=int, help='Step size')
    parser.add_argument('--attack-iters', default=3, type=int)
    parser.add_argument('--restarts', default=1, type=int)
    parser.add_argument('--delta-init', default='random', choices=['zero', 'random'])
    parser.add_argument('--seed', default=0, type=int)
    return parser.parse_args()


def attack_pgd(model, X, y, epsilon, alpha, attack_iters, restarts, init='random'):
    max_loss = torch.zeros_like(y, dtype=torch.float)
    max_delta = torch.zeros_like(X)
    for _ in range(restarts):
        delta = torch.zeros_like(X)
        if init == 'random':
            for i in range(len(epsilon)):
                delta[:, i, :, :].uniform_(-epsilon[i][0][0].item(), epsilon[i][0][0].item())
        delta.data = clamp(delta, lower_limit - X, upper_limit - X)
        delta.requires_grad = True
        for _ in range(attack_iters):
            output = model(X + delta)
            index = torch.where(output.max(1)[1] == y)[0]
            if len(index) == 0:
                break
            loss = F.cross_entropy(output, y)
            loss.backward()
            grad = delta.grad.detach()
            d = delta[index, :, :, :]
            d = clamp(d + alpha * torch.sign(grad[index]), -epsilon, epsilon)
            d = clamp(d, lower_limit - X[index], upper_limit - X[index])
            delta.data[index, :, :, :] = d.detach()
            delta.grad.zero_()
        all_loss = F.cross_entropy(model(X + delta), y, reduction='none').detach()
        max_delta[all_loss >= max_loss] = delta.detach()[all_loss >= max_loss]
        max_loss = torch.max(max_loss, all_loss)
    return max_delta


def fake_cifar(n, rng):
    y = rng.randint(0, 10, n)
    base = np.random.RandomState(5).rand(10, 3, 1, 1)
    x = np.clip(base[y] + 0.15 * rng.randn(n, 3, 16, 16), 0, 1).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy(y)


def batches(x, y, batch_size):
    order = torch.randperm(len(x))
    for i in range(0, len(x), batch_size):
        j = order[i:i + batch_size]
        yield cuda((x[j] - torch.tensor(cifar10_mean).view(3, 1, 1)) / torch.tensor(cifar10_std).view(3, 1, 1)), cuda(y[j])


def main():
    args = get_args()
    logging.basicConfig(format='[%(asctime)s] - %(message)s', datefmt='%H:%M:%S', level=logging.INFO)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)

    x, y = fake_cifar(96, np.random.RandomState(args.seed))
    epsilon = (args.epsilon / 255.) / std
    alpha = (args.alpha / 255.) / std

    model = cuda(SmallNet())
    model.train()
    opt = torch.optim.SGD(model.parameters(), lr=args.lr_max, momentum=0.9, weight_decay=5e-4)
    steps = args.epochs * -(-len(x) // args.batch_size)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=args.lr_max, total_steps=steps)

    for epoch in range(args.epochs):
        start, train_loss, train_acc, n = time.time(), 0., 0, 0
        for X, target in batches(x, y, args.batch_size):
            delta = attack_pgd(model, X, target, epsilon, alpha, args.attack_iters, args.restarts, args.delta_init)
            output = model(clamp(X + delta, lower_limit, upper_limit))
            loss = F.cross_entropy(output, target)
            opt.zero_grad()
            loss.backward()
            opt.step()
            scheduler.step()
            train_loss += loss.item() * target.size(0)
            train_acc += (output.max(1)[1] == target).sum().item()
            n += target.size(0)
        logger.info('%d \t %.1f \t %.4f \t %.4f \t %.4f', epoch, time.time() - start,
                    scheduler.get_last_lr()[0], train_loss / n, train_acc / n)


if __name__ == "__main__":
    main()
