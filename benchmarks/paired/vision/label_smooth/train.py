# -*- coding: utf-8 -*-
"""
Fine-grained classification with label smoothing and warmup (bag of tricks).

    CUDA_VISIBLE_DEVICES=0 python train.py --gpu 0 -b 16
"""
import argparse

import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, random_split, TensorDataset


class LSR(nn.Module):

    def __init__(self, e=0.1, reduction='mean'):
        super().__init__()
        self.log_softmax = nn.LogSoftmax(dim=1)
        self.e = e
        self.reduction = reduction

    def _one_hot(self, labels, classes, value=1):
        """Convert labels to one hot vectors

        Args:
            labels: torch tensor in format [label1, label2, label3, ...]
            classes: int, number of classes
            value: label value in one hot vector
        """
        one_hot = torch.zeros(labels.size(0), classes)
        labels = labels.view(labels.size(0), -1)
        value_added = torch.Tensor(labels.size(0), 1).fill_(value)
        value_added = value_added.to(labels.device)
        one_hot = one_hot.to(labels.device)
        one_hot.scatter_add_(1, labels, value_added)
        return one_hot

    def _smooth_label(self, target, length, smooth_factor):
        one_hot = self._one_hot(target, length, value=1 - smooth_factor)
        one_hot += smooth_factor / length
        return one_hot

    def forward(self, x, target):
        if x.size(0) != target.size(0):
            raise ValueError('Expected input batchsize ({}) to match target batch_size({})'
                             .format(x.size(0), target.size(0)))
        smoothed_target = self._smooth_label(target, x.size(1), self.e)
        x = self.log_softmax(x)
        loss = torch.sum(-x * smoothed_target, dim=1)
        if self.reduction == 'none':
            return loss
        elif self.reduction == 'sum':
            return torch.sum(loss)
        return torch.mean(loss)


class WarmUpLR(optim.lr_scheduler.LambdaLR):
    def __init__(self, optimizer, total_iters):
        super().__init__(optimizer, lambda it: min(1.0, (it + 1) / float(total_iters)))


class SEBlock(nn.Module):
    def __init__(self, ch, r=4):
        super().__init__()
        self.fc = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(ch, ch // r, 1), nn.ReLU(inplace=True),
                                nn.Conv2d(ch // r, ch, 1), nn.Sigmoid())

    def forward(self, x):
        return x * self.fc(x)


def get_network(num_class):
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU(inplace=True), SEBlock(16),
        nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(inplace=True), SEBlock(32),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, num_class))


def split_weights(net):
    """no weight decay on biases and batch norm parameters"""
    decay, no_decay = [], []
    for p in net.parameters():
        (decay if p.dim() > 1 else no_decay).append(p)
    return [dict(params=decay), dict(params=no_decay, weight_decay=0)]


def get_loaders(args):
    labels = torch.randint(0, args.classes, (144,))
    proto = torch.randn(args.classes, 3, 16, 16)
    images = proto[labels] + 0.7 * torch.randn(144, 3, 16, 16)
    train, val = random_split(TensorDataset(images, labels), [112, 32])
    return DataLoader(train, args.b, shuffle=True), DataLoader(val, args.b)


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('-b', type=int, default=16, help='batch size')
    parser.add_argument('-lr', type=float, default=0.04)
    parser.add_argument('-e', type=int, default=2, help='epochs')
    parser.add_argument('-warm', type=int, default=4, help='warm up iterations')
    parser.add_argument('--classes', type=int, default=20)
    parser.add_argument('--gpu', type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(1)

    device = torch.device('cuda', args.gpu) if torch.cuda.is_available() else torch.device('cpu')
    train_loader, val_loader = get_loaders(args)
    net = get_network(args.classes).to(device)

    lsr_loss = LSR()
    cross_entropy = nn.CrossEntropyLoss()
    optimizer = optim.SGD(split_weights(net), args.lr, momentum=0.9, weight_decay=1e-4, nesterov=True)
    warmup = WarmUpLR(optimizer, args.warm)

    for epoch in range(1, args.e + 1):
        net.train()
        for batch_index, (images, labels) in enumerate(train_loader):
            images, labels = images.to(device), labels.to(device)
            optimizer.zero_grad()
            predicts = net(images)
            loss = lsr_loss(predicts, labels)
            loss.backward()
            optimizer.step()
            warmup.step()

        net.eval()
        total_loss, correct = 0., 0.
        with torch.no_grad():
            for images, labels in val_loader:
                images, labels = images.to(device), labels.to(device)
                predicts = net(images)
                correct += predicts.argmax(1).eq(labels).sum().float().item()
                total_loss += cross_entropy(predicts, labels).item() * labels.size(0)
        n = len(val_loader.dataset)
        print('Epoch {} train loss {:.4f} | val loss {:.4f} accuracy {:.3f}'.format(
            epoch, loss.item(), total_loss / n, correct / n))
