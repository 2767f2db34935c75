'''Train a small ResNet with mixup (per-sample mixing coefficients).

Usage: python main.py --alpha 1.0 --epoch 5
'''
from __future__ import print_function

import argparse
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser(description='PyTorch mixup training')
parser.add_argument('--lr', default=0.1, type=float, help='learning rate')
parser.add_argument('--seed', default=20170922, type=int, help='rng seed')
parser.add_argument('--alpha', default=1., type=float, help='interpolation strength')
parser.add_argument('--decay', default=1e-4, type=float, help='weight decay')
parser.add_argument('--batch-size', default=16, type=int)
parser.add_argument('--epoch', default=1, type=int)
args = parser.parse_args()

torch.manual_seed(args.seed)
np.random.seed(args.seed)

use_cuda = torch.cuda.is_available()
best_acc = 0


class BasicBlock(nn.Module):
    def __init__(self, in_planes, planes, stride=1):
        super(BasicBlock, self).__init__()
        self.conv1 = nn.Conv2d(in_planes, planes, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.shortcut = nn.Sequential()
        if stride != 1 or in_planes != planes:
            self.shortcut = nn.Sequential(
                nn.Conv2d(in_planes, planes, 1, stride=stride, bias=False),
                nn.BatchNorm2d(planes))

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.shortcut(x)
        return F.relu(out)


class ResNet(nn.Module):
    def __init__(self, widths=(8, 12, 16), num_classes=10):
        super(ResNet, self).__init__()
        self.conv1 = nn.Conv2d(3, widths[0], 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(widths[0])
        blocks = []
        planes = widths[0]
        for i, w in enumerate(widths):
            blocks.append(BasicBlock(planes, w, stride=1 if i == 0 else 2))
            planes = w
        self.layers = nn.Sequential(*blocks)
        self.linear = nn.Linear(planes, num_classes)

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.layers(out)
        out = F.adaptive_avg_pool2d(out, 1).flatten(1)
        return self.linear(out)


def make_set(n, seed):
    g = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 10, (n,), generator=g)
    images = 0.5 * torch.randn(n, 3, 16, 16, generator=g)
    for i, y in enumerate(labels.tolist()):
        images[i, y % 3, y:y + 4] += 1.5
    return TensorDataset(images, labels)


print('==> Preparing data..')
trainloader = DataLoader(make_set(64, 0), batch_size=args.batch_size, shuffle=True)
testloader = DataLoader(make_set(24, 1), batch_size=24, shuffle=False)

print('==> Building model..')
net = ResNet()
if use_cuda:
    net.cuda()
    print('Using', torch.cuda.device_count(), 'GPUs.')

criterion = nn.CrossEntropyLoss(reduction='none')
optimizer = optim.SGD(net.parameters(), lr=args.lr, momentum=0.9, weight_decay=args.decay)


def mixup_data(x, y, alpha=1.0):
    '''Returns mixed inputs, pairs of targets, and one lambda per sample'''
    batch_size = x.size(0)
    if alpha > 0:
        lam = np.random.beta(alpha, alpha, batch_size)
        lam = np.maximum(lam, 1 - lam)
    else:
        lam = np.ones(batch_size)
    lam = torch.from_numpy(lam).float()
    index = torch.randperm(batch_size)
    if use_cuda:
        lam, index = lam.cuda(), index.cuda()

    w = lam.view(-1, 1, 1, 1)
    mixed_x = w * x + (1 - w) * x[index, :]
    y_a, y_b = y, y[index]
    return mixed_x, y_a, y_b, lam


def mixup_criterion(criterion, pred, y_a, y_b, lam):
    return (lam * criterion(pred, y_a) + (1 - lam) * criterion(pred, y_b)).mean()


def train(epoch):
    print('\nEpoch: %d' % epoch)
    net.train()
    train_loss, correct, total = 0, 0, 0
    for batch_idx, (inputs, targets) in enumerate(trainloader):
        if use_cuda:
            inputs, targets = inputs.cuda(), targets.cuda()
        inputs, targets_a, targets_b, lam = mixup_data(inputs, targets, args.alpha)
        outputs = net(inputs)
        loss = mixup_criterion(criterion, outputs, targets_a, targets_b, lam)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        train_loss += loss.item()
        _, predicted = torch.max(outputs.data, 1)
        total += targets.size(0)
        correct += (lam * predicted.eq(targets_a).float()
                    + (1 - lam) * predicted.eq(targets_b).float()).sum().item()
    print('Loss: %.3f | Acc: %.3f%%' % (train_loss / (batch_idx + 1), 100. * correct / total))


def test(epoch):
    global best_acc
    net.eval()
    correct, total = 0, 0
    with torch.no_grad():
        for inputs, targets in testloader:
            if use_cuda:
                inputs, targets = inputs.cuda(), targets.cuda()
            predicted = net(inputs).argmax(1)
            total += targets.size(0)
            correct += predicted.eq(targets).cpu().sum().item()
    acc = 100. * correct / total
    best_acc = max(acc, best_acc)
    print('Test acc: %.2f%% (best %.2f%%)' % (acc, best_acc))


start = time.time()
for epoch in range(args.epoch):
    train(epoch)
    test(epoch)
print('done in %.1fs' % (time.time() - start))
